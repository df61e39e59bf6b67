//! `model_config.yaml`, as NeMo keeps it in its archives.

use super::{Config, EncoderConfig, HeadConfig, TransducerConfig};
use crate::dictation::log_mel::parakeet::FrontEndConfig;
use serde_json::Value;

/// A place in the file that refers to another by `${...}` may refer to one that refers again; no longer than this.
const MOST_REFERENCES: usize = 8;

/// The file as a tree.
struct Tree(Value);

impl Tree {
    /// What is at a path of names, references followed; `None` also for null.
    fn get(&self, path: &str) -> Option<&Value> {
        let mut path = path.to_owned();
        for _ in 0..MOST_REFERENCES {
            let value = path.split('.').try_fold(&self.0, |value, name| value.get(name))?;
            let reference = value.as_str().and_then(|text| text.strip_prefix("${")?.strip_suffix('}'));
            match reference {
                Some(reference) => path = reference.to_owned(),
                None => return (!value.is_null()).then_some(value),
            }
        }
        None
    }

    fn size(&self, path: &str) -> Result<usize, String> {
        self.optional_size(path).ok_or_else(|| format!("`{path}` is missing in its settings"))
    }

    fn optional_size(&self, path: &str) -> Option<usize> {
        usize::try_from(self.get(path)?.as_u64()?).ok()
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.get(path)?.as_f64()
    }

    /// Refuses what we would silently do in another way.
    fn only(&self, path: &str, known: &[&str]) -> Result<(), String> {
        match self.get(path) {
            None => Ok(()),
            Some(value) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                if known.contains(&text.as_str()) { Ok(()) } else { Err(format!("its `{path}` is `{text}`")) }
            }
        }
    }

    fn sizes(&self, path: &str) -> Option<Vec<usize>> {
        let sizes = self.get(path)?.as_array()?.iter();
        sizes.map(|size| usize::try_from(size.as_u64()?).ok()).collect()
    }

    /// Pieces without blank: a count, or the length of the list itself.
    fn pieces(&self, counts: &[&str], lists: &[&str]) -> Result<usize, String> {
        let count = counts.iter().find_map(|path| self.optional_size(path).filter(|count| *count > 0));
        let length = || lists.iter().find_map(|path| Some(self.get(path)?.as_array()?.len()));
        count.or_else(length).ok_or_else(|| "its vocabulary is missing in its settings".to_owned())
    }
}

impl Config {
    /// From the text of `model_config.yaml`. A hybrid model's transducer is preferred to its CTC head.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    pub fn from_nemo(yaml: &str) -> Result<Self, String> {
        let tree: Value = serde_saphyr::from_str(yaml).map_err(|error| error.to_string())?;
        let tree = Tree(tree);
        tree.only("preprocessor.normalize", &["per_feature"])?;
        tree.only("preprocessor.window", &["hann"])?;
        tree.only("encoder.subsampling", &["dw_striding"])?;
        tree.only("encoder.causal_downsampling", &["false"])?;
        tree.only("encoder.self_attention_model", &["rel_pos"])?;
        tree.only("encoder.conv_norm_type", &["batch_norm"])?;
        tree.only("encoder.untie_biases", &["true"])?;
        tree.only("joint.jointnet.activation", &["relu"])?;

        let rate =
            tree.optional_size("preprocessor.sample_rate").or_else(|| tree.optional_size("sample_rate"));
        let rate = rate.ok_or("`sample_rate` is missing in its settings")?;
        let samples = |path: &str| {
            let seconds = tree.number(path).filter(|seconds| (0.0..10.0).contains(seconds));
            let seconds = seconds.ok_or_else(|| format!("`{path}` is missing in its settings"))?;
            Ok::<_, String>((seconds * rate as f64).round() as usize)
        };
        let window = samples("preprocessor.window_size")?;
        let front_end = FrontEndConfig {
            rate,
            mels: tree.size("preprocessor.features")?,
            transform: tree.optional_size("preprocessor.n_fft").unwrap_or_else(|| window.next_power_of_two()),
            window,
            hop: samples("preprocessor.window_stride")?,
            preemphasis: tree.number("preprocessor.preemph").unwrap_or(0.97) as f32,
        };
        let hidden = tree.size("encoder.d_model")?;
        let encoder = EncoderConfig {
            mels: tree.size("encoder.feat_in")?,
            hidden,
            layers: tree.size("encoder.n_layers")?,
            heads: tree.size("encoder.n_heads")?,
            intermediate: hidden * tree.size("encoder.ff_expansion_factor")?,
            kernel: tree.size("encoder.conv_kernel_size")?,
            subsampling: tree.size("encoder.subsampling_factor")?,
            subsampling_channels: tree.size("encoder.subsampling_conv_channels")?,
            // NeMo has these two in its code, not in its settings.
            subsampling_kernel: 3,
            subsampling_stride: 2,
            scales_input: tree.get("encoder.xscaling").and_then(Value::as_bool).unwrap_or(true),
        };
        let head = if tree.get("joint").is_some() { tree.transducer()? } else { tree.ctc()? };
        Self { front_end, encoder, head }.check()
    }
}

impl Tree {
    fn transducer(&self) -> Result<HeadConfig, String> {
        let pieces = self.pieces(
            &["joint.num_classes", "decoder.vocab_size"],
            &["joint.vocabulary", "labels", "decoder.vocabulary"],
        )?;
        let extra = self.optional_size("joint.num_extra_outputs").unwrap_or(0);
        let durations = ["decoding.durations", "model_defaults.tdt_durations", "loss.tdt_kwargs.durations"];
        let durations = if extra == 0 {
            Vec::new()
        } else {
            let found = durations.iter().find_map(|path| self.sizes(path));
            found.ok_or("its durations are missing in its settings")?
        };
        if durations.len() != extra {
            return Err(format!("it has {extra} more outputs and {} durations", durations.len()));
        }
        let most_symbols = self.optional_size("decoding.greedy.max_symbols");
        let most_symbols =
            most_symbols.or_else(|| self.optional_size("decoding.greedy.max_symbols_per_step"));
        Ok(HeadConfig::Transducer(TransducerConfig {
            vocabulary: pieces + 1,
            blank: u32::try_from(pieces).map_err(|_too_large| "its vocabulary is too large")?,
            hidden: self.size("decoder.prednet.pred_hidden")?,
            layers: self.size("decoder.prednet.pred_rnn_layers")?,
            joint: self.size("joint.jointnet.joint_hidden")?,
            durations,
            most_symbols: most_symbols.unwrap_or(10).max(1),
        }))
    }

    fn ctc(&self) -> Result<HeadConfig, String> {
        let pieces = self.pieces(&["decoder.num_classes"], &["decoder.vocabulary", "labels"])?;
        let blank = u32::try_from(pieces).map_err(|_too_large| "its vocabulary is too large")?;
        Ok(HeadConfig::Ctc { vocabulary: pieces + 1, blank })
    }
}
