//! What goes wrong with files, folders, disks and settings.
