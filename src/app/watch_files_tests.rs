use super::*;
use crate::config::env::Env;
use std::sync::mpsc::TryRecvError;
use tempfile::TempDir;

/// So long a machine may be busy with other things.
const PATIENCE: Duration = Duration::from_secs(20);

struct World {
    _home: TempDir,
    places: Places,
    told: Receiver<()>,
    _watch: FileWatch,
}

impl World {
    fn new(prepare: impl FnOnce(&Places)) -> Self {
        let home = TempDir::new().unwrap();
        let root = home.path().canonicalize().unwrap();
        let places = Places::from_env(&Env::of([("MYNAH_HOME", root.to_str().unwrap())]));
        prepare(&places);
        let (tell, told) = channel();
        let watch = FileWatch::start(&places, move || {
            let _ended = tell.send(());
        })
        .unwrap();
        Self { _home: home, places, told, _watch: watch }
    }

    fn is_told(&self, what: &str) {
        self.told.recv_timeout(PATIENCE).expect(what);
        // Whatever belongs to the same change is over before the next one is made.
        while self.told.recv_timeout(QUIET * 3).is_ok() {}
    }
}

fn with_config(places: &Places) {
    fs::create_dir_all(places.config.join("themes")).unwrap();
}

#[test]
fn a_folder_that_is_never_quiet_holds_nothing_back() {
    let world = World::new(with_config);
    let other = world.places.config.join("busy.log");
    let told = thread::scope(|scope| {
        let (told, stop) = channel::<()>();
        scope.spawn(move || {
            while stop.try_recv() == Err(TryRecvError::Empty) {
                fs::write(&other, "more").unwrap();
            }
        });
        fs::write(load::user_file(&world.places), "[screen]\n").unwrap();
        let outcome = world.told.recv_timeout(PATIENCE);
        drop(told);
        outcome
    });
    assert!(told.is_ok(), "the settings have changed");
}

#[test]
fn changes_are_told_however_they_are_made() {
    let world = World::new(with_config);
    let config = load::user_file(&world.places);
    fs::write(&config, "").unwrap();
    world.is_told("a new file");
    fs::write(&config, "[screen]\n").unwrap();
    world.is_told("written in place");
    let new = world.places.config.join("4913~");
    fs::write(&new, "[model]\n").unwrap();
    fs::rename(&new, &config).unwrap();
    world.is_told("a new file under the old name");
    fs::write(&config, "[tools]\n").unwrap();
    world.is_told("the new file written in place");
    fs::write(world.places.config.join("themes/mine.toml"), "").unwrap();
    world.is_told("a theme");
    fs::remove_file(&config).unwrap();
    world.is_told("taken away");
}

#[test]
fn folders_that_come_later_are_watched() {
    let world = World::new(|_| {});
    fs::create_dir_all(&world.places.config).unwrap();
    world.is_told("the folder");
    fs::write(keymap::user_file(&world.places), "").unwrap();
    world.is_told("a file in it");
    let themes = world.places.config.join("themes");
    fs::create_dir(&themes).unwrap();
    world.is_told("the themes");
    fs::write(themes.join("mine.toml"), "").unwrap();
    world.is_told("a theme");
    fs::remove_dir_all(&themes).unwrap();
    world.is_told("no themes");
    fs::create_dir(&themes).unwrap();
    world.is_told("new themes");
    fs::write(themes.join("mine.toml"), "").unwrap();
    world.is_told("a theme in the new folder");
}

#[test]
fn what_a_link_points_to_is_watched() {
    let mut dotfiles = PathBuf::new();
    let world = World::new(|places| {
        with_config(places);
        dotfiles = places.config.parent().unwrap().join("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        fs::write(dotfiles.join("keys"), "").unwrap();
        std::os::unix::fs::symlink(dotfiles.join("keys"), keymap::user_file(places)).unwrap();
    });
    fs::write(dotfiles.join("keys"), "[global]\n").unwrap();
    world.is_told("what it points to");
}

#[test]
fn reading_and_files_of_others_are_not_told() {
    let world = World::new(|places| {
        with_config(places);
        fs::write(load::user_file(places), "").unwrap();
    });
    let config = load::user_file(&world.places);
    fs::read_to_string(&config).unwrap();
    fs::write(world.places.config.join("config.toml.lock"), "").unwrap();
    fs::write(world.places.config.join("auth.toml"), "").unwrap();
    // What comes after them is told, and once.
    fs::write(&config, "[screen]\n").unwrap();
    world.told.recv_timeout(PATIENCE).expect("the change");
    assert_eq!(world.told.recv_timeout(QUIET * 4), Err(RecvTimeoutError::Timeout));
}
