use super::*;
use candle_core::Device;
use std::cell::Cell;
use std::fs;

/// A source that counts what is asked of it.
#[derive(Default)]
struct Source {
    asked: Cell<usize>,
    more: bool,
}

impl Weights for Source {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        self.asked.set(self.asked.get() + 1);
        let mut random = fastrand::Rng::with_seed(name.len() as u64);
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| random.f32() - 0.5).collect();
        Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let weight = self.tensor(name, &[outputs, inputs])?;
        Ok(Linear::new(&weight, Some(self.tensor("bias", &[outputs])?))?)
    }

    fn has(&self, name: &str) -> bool {
        name == "there" || (self.more && name == "layers.there")
    }
}

struct Model {
    layer: Linear,
    made: Linear,
    norm: Vec<f32>,
    has: [bool; 2],
}

impl Model {
    fn new(weights: &dyn Weights) -> Result<Self, ModelError> {
        let make = || Ok((Source::default().tensor("made", &[48, 128])?, None));
        Ok(Self {
            layer: weights.linear("layer", 300, 40)?,
            made: weights.made("made", 128, 48, &make)?,
            norm: weights.tensor("norm", &[300])?.to_vec1()?,
            has: [weights.has("there"), weights.has("absent")],
        })
    }

    fn answers(&self) -> Vec<f32> {
        let mut answers = self.layer.forward_rows(&self.norm).unwrap();
        answers.extend(self.made.forward_rows(&self.norm[..128]).unwrap());
        answers
    }
}

fn open() -> Result<Box<dyn Weights>, ModelError> {
    Ok(Box::new(Source::default()))
}

fn unopened() -> Result<Box<dyn Weights>, ModelError> {
    panic!("the source is not needed")
}

#[test]
fn a_model_is_packed_once_and_answers_the_same_after() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("speech/a.int8");
    let (first, kept) = build(&path, "v1", open, Model::new).unwrap();
    assert_eq!(kept, Kept::Shared(fs::metadata(&path).unwrap().len()));
    let (second, again) = build(&path, "v1", unopened, Model::new).unwrap();
    assert_eq!(again, kept);
    assert!(first.layer.is_int8() && second.layer.is_int8());
    let alone = Model::new(&Rounded(&Source::default())).unwrap();
    assert_eq!(first.answers(), second.answers());
    assert_eq!(first.answers(), alone.answers());
    assert_eq!([first.has, second.has, alone.has], [[true, false]; 3]);
    let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1, "no draft stays");
}

#[test]
fn another_source_is_packed_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.int8");
    build(&path, "v1", open, Model::new).unwrap();
    assert!(Packed::open(&path, "v2").is_err());
    build(&path, "v2", open, Model::new).unwrap();
    build(&path, "v2", unopened, Model::new).unwrap();
}

#[test]
fn what_is_cut_or_overwritten_is_packed_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.int8");
    build(&path, "v1", open, Model::new).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut spoiled: Vec<Vec<u8>> =
        [0, 7, 63, 64, 200, whole.len() / 2, whole.len() - 1].map(|len| whole[..len].to_vec()).into();
    for at in [0, 9, 13, 17, 25, 40, whole.len() - 3] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        spoiled.push(bytes);
    }
    for bytes in spoiled {
        fs::write(&path, &bytes).unwrap();
        assert!(Packed::open(&path, "v1").is_err(), "{} bytes", bytes.len());
    }
    build(&path, "v1", open, Model::new).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn what_an_older_program_did_not_ask_for_is_packed_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.int8");
    build(&path, "v1", open, |weights| weights.tensor("norm", &[300])).unwrap();
    build(&path, "v1", open, Model::new).unwrap();
    build(&path, "v1", unopened, Model::new).unwrap();
    // What is optional in a model is no error when it is missing, and must not get lost.
    let more = |weights: &dyn Weights| Ok((Model::new(weights)?, weights.has("layers.there")));
    let source = || Ok(Box::new(Source { more: true, ..Source::default() }) as Box<dyn Weights>);
    assert!(build(&path, "v1", source, more).unwrap().0.1);
    assert!(build(&path, "v1", unopened, more).unwrap().0.1);
}

#[test]
fn without_a_place_to_write_the_weights_are_our_own() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let (model, kept) = build(&file.join("a.int8"), "v1", open, Model::new).unwrap();
    assert!(matches!(kept, Kept::Alone(why) if !why.is_empty()));
    assert!(model.layer.is_int8());
}

#[test]
fn a_model_that_can_not_be_built_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.int8");
    let failing = |weights: &dyn Weights| {
        Model::new(weights)?;
        Err::<Model, _>(ModelError::Missing("last".into()))
    };
    assert!(matches!(build(&path, "v1", open, failing), Err(ModelError::Missing(_))));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// Two openings see the same pages: they are mapped shared, and not written.
#[cfg(target_os = "linux")]
#[test]
fn the_file_is_mapped_shared_and_read_only() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.int8");
    let (written, _) = build(&path, "v1", open, Model::new).unwrap();
    let (read, _) = build(&path, "v1", unopened, Model::new).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of_file: Vec<&str> = maps.lines().filter(|line| line.ends_with("/a.int8")).collect();
    assert!(of_file.len() >= 2, "{of_file:?}");
    assert!(of_file.iter().all(|line| line.split_whitespace().nth(1) == Some("r--s")), "{of_file:?}");
    drop((written, read));
}

#[test]
fn a_fingerprint_changes_with_its_files() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("model.safetensors");
    assert!(fingerprint(std::slice::from_ref(&file)).is_err());
    fs::write(&file, "a").unwrap();
    let first = fingerprint(std::slice::from_ref(&file)).unwrap();
    fs::write(&file, "ab").unwrap();
    assert_ne!(fingerprint(std::slice::from_ref(&file)).unwrap(), first);
    assert_ne!(
        path(home.path(), std::slice::from_ref(&file)),
        path(home.path(), &[home.path().join("other")])
    );
}
