#!/usr/bin/env python3
"""Makes a folder of Hugging Face's of a Whisper in CTranslate2's format.

usage: whisper_from_ctranslate2.py FROM TO

FROM holds model.bin (float16 or float32), config.json and tokenizer.json. Numbers are only renamed, and matrices that
were joined are taken apart. Needs numpy and safetensors.
"""
import json
import shutil
import struct
import sys
from pathlib import Path

import numpy
from safetensors.numpy import save_file

KINDS = {0: "<f4", 1: "<i1", 2: "<i2", 3: "<i4", 4: "<f2"}


class Reader:
    """Fields of a binary file, one after the other."""

    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, kind):
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def text(self):
        return bytes(self.take(self.number("H"))).rstrip(b"\0").decode()

    def array(self):
        shape = [self.number("I") for _ in range(self.number("B"))]
        kind = KINDS[self.number("B")]
        return numpy.frombuffer(self.take(self.number("I")), kind).reshape(shape)


def read(file):
    reader = Reader(file.read_bytes())
    reader.number("I")
    if reader.text() != "WhisperSpec":
        sys.exit(f"{file} is no Whisper")
    reader.number("I")
    arrays = {}
    for _ in range(reader.number("I")):
        name = reader.text()
        arrays[name] = reader.array()
    return arrays


class Names:
    """Tensors under their new names."""

    def __init__(self, arrays):
        self.arrays, self.tensors = arrays, {}

    def put(self, name, array):
        if array.dtype.kind != "f":
            sys.exit(f"{name} is quantised: take a float16 model")
        self.tensors["model." + name] = numpy.ascontiguousarray(array)

    def norm(self, old, new):
        self.put(new + ".weight", self.arrays[old + "/gamma"])
        self.put(new + ".bias", self.arrays[old + "/beta"])

    def linear(self, old, *new):
        parts = [numpy.split(self.arrays[f"{old}/{part}"], len(new)) for part in ("weight", "bias")]
        for name, weight, bias in zip(new, *parts):
            self.put(name + ".weight", weight)
            if name.endswith("k_proj"):
                # The one product of Whisper's without a bias; joined with others it has one of zeros.
                assert not bias.any(), name
            else:
                self.put(name + ".bias", bias)

    def layer(self, old, new, has_encoder_attention):
        attention = old + "/self_attention"
        self.norm(attention + "/layer_norm", new + ".self_attn_layer_norm")
        self.linear(attention + "/linear_0", *(f"{new}.self_attn.{part}_proj" for part in "qkv"))
        self.linear(attention + "/linear_1", new + ".self_attn.out_proj")
        if has_encoder_attention:
            attention = old + "/attention"
            self.norm(attention + "/layer_norm", new + ".encoder_attn_layer_norm")
            self.linear(attention + "/linear_0", new + ".encoder_attn.q_proj")
            self.linear(attention + "/linear_1", *(f"{new}.encoder_attn.{part}_proj" for part in "kv"))
            self.linear(attention + "/linear_2", new + ".encoder_attn.out_proj")
        self.norm(old + "/ffn/layer_norm", new + ".final_layer_norm")
        self.linear(old + "/ffn/linear_0", new + ".fc1")
        self.linear(old + "/ffn/linear_1", new + ".fc2")

    def side(self, side):
        """Layers of a side, their norm and positions; gives their number."""
        count = 0
        while f"{side}/layer_{count}/ffn/linear_0/weight" in self.arrays:
            self.layer(f"{side}/layer_{count}", f"{side}.layers.{count}", side == "decoder")
            count += 1
        self.norm(side + "/layer_norm", side + ".layer_norm")
        self.put(side + ".embed_positions.weight", self.arrays[side + "/position_encodings/encodings"])
        return count


def main(source, target):
    names = Names(read(source / "model.bin"))
    for convolution in ("conv1", "conv2"):
        for part in ("weight", "bias"):
            names.put(f"encoder.{convolution}.{part}", names.arrays[f"encoder/{convolution}/{part}"])
    names.put("decoder.embed_tokens.weight", names.arrays["decoder/embeddings/weight"])
    layers = {side: names.side(side) for side in ("encoder", "decoder")}

    tensors = names.tensors
    vocabulary, channels = tensors["model.decoder.embed_tokens.weight"].shape
    config = {
        "model_type": "whisper",
        "activation_function": "gelu",
        "d_model": channels,
        "vocab_size": vocabulary,
        "num_mel_bins": tensors["model.encoder.conv1.weight"].shape[1],
        "max_source_positions": len(tensors["model.encoder.embed_positions.weight"]),
        "max_target_positions": len(tensors["model.decoder.embed_positions.weight"]),
    }
    for side, count in layers.items():
        config[side + "_layers"] = count
        config[side + "_attention_heads"] = int(names.arrays[side + "/num_heads"])
        config[side + "_ffn_dim"] = len(tensors[f"model.{side}.layers.0.fc1.bias"])
    described = json.loads((source / "config.json").read_text())
    generation = {
        "suppress_tokens": described.get("suppress_ids"),
        "begin_suppress_tokens": described.get("suppress_ids_begin"),
        "alignment_heads": described.get("alignment_heads"),
    }
    target.mkdir(parents=True, exist_ok=True)
    save_file(tensors, target / "model.safetensors", metadata={"format": "pt"})
    (target / "config.json").write_text(json.dumps(config, indent=1))
    generation = {name: value for name, value in generation.items() if value is not None}
    (target / "generation_config.json").write_text(json.dumps(generation))
    shutil.copy(source / "tokenizer.json", target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
