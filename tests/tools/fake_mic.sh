#!/usr/bin/env bash
# Runs a command on a machine that has a microphone, without a sound card: a WAV file is spoken into it in real time.
#
#   fake_mic.sh WAV COMMAND [ARGUMENT...]
#
# A sound server of its own, with a sink that leads nowhere and the sink's monitor as the default source; ALSA's default
# device and PulseAudio's clients find it through the environment. Speech begins FAKE_MIC_DELAY seconds (3) after the
# command: the first samples need about 2 s. Exits with the command's code, and leaves nothing running.
# Debian: pulseaudio pulseaudio-utils libasound2-plugins
set -euo pipefail

wav=$1
shift
home=$(mktemp -d)
server=
speaker=

clean_up() {
    for child in $speaker $server; do
        kill "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
    rm -rf "$home"
}
trap clean_up EXIT

printf '%s\n' '</usr/share/alsa/alsa.conf>' 'pcm.!default { type pulse }' 'ctl.!default { type pulse }' >"$home/alsa.conf"
printf '%s\n' \
    "load-module module-native-protocol-unix socket=$home/socket auth-anonymous=1" \
    'load-module module-null-sink sink_name=mouth rate=16000 channels=1 format=s16le' \
    'set-default-sink mouth' \
    'set-default-source mouth.monitor' >"$home/server.pa"

HOME=$home XDG_RUNTIME_DIR=$home pulseaudio -n -F "$home/server.pa" --daemonize=no --use-pid-file=no \
    --exit-idle-time=-1 --disallow-exit --log-level=error >"$home/log" 2>&1 &
server=$!
export PULSE_SERVER=unix:$home/socket ALSA_CONFIG_PATH=$home/alsa.conf

for _ in {1..100}; do
    pactl info >/dev/null 2>&1 && break
    sleep 0.1
done
pactl info >/dev/null 2>&1 || { echo "the sound server does not start:" >&2; cat "$home/log" >&2; exit 70; }

(sleep "${FAKE_MIC_DELAY:-3}" && exec paplay --device=mouth "$wav") &
speaker=$!
"$@"
