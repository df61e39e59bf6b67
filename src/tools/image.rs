//! Pictures for models: recognised by content, turned upright, made small enough.

use super::read::with_picture;
use super::truncate::size;
use crate::proto::tool::ToolOutput;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::Path;

/// What providers accept: 2000 pixels on a side, and 4.5 MB of base64, which leaves room below 5 MB.
const ACCEPTED: Bounds = Bounds { pixels: 2000, base64: 9 * 1024 * 1024 / 2 };

/// The largest picture.
#[derive(Clone, Copy)]
struct Bounds {
    /// Pixels on a side.
    pixels: u32,
    /// Bytes of base64.
    base64: usize,
}

/// Bytes of a file that is taken for a picture at all.
const MOST_FILE: u64 = 100 << 20;

/// Memory that decoding may take: a small file can claim to be a huge picture.
const MOST_MEMORY: u64 = 512 << 20;

/// Qualities tried when the first is too large, then the scales for which they are tried again.
const QUALITIES: [u8; 4] = [85, 70, 55, 40];
const SCALES: [f64; 5] = [1.0, 0.75, 0.5, 0.35, 0.25];
const FIRST_QUALITY: u8 = 80;

/// How a picture is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Large ones made smaller.
    pub resize: bool,
    /// In the result: the model takes pictures.
    pub attach: bool,
}

/// A kind of picture that models take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    format: ImageFormat,
    mime: &'static str,
}

/// A picture that is ready to be sent.
struct Ready {
    data: String,
    mime: &'static str,
    /// Size in pixels: as it was, upright, and as it is sent.
    before: (u32, u32),
    after: (u32, u32),
}

impl Picture {
    /// The kind of a file by its first bytes.
    pub fn sniff(start: &[u8]) -> Option<Self> {
        let format = image::guess_format(start).ok()?;
        let mime = match format {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
            ImageFormat::Gif => "image/gif",
            ImageFormat::WebP => "image/webp",
            _ => return None,
        };
        Some(Self { format, mime })
    }

    /// Reads a file of this kind.
    pub fn read(self, name: &str, path: &Path, length: u64, wanted: Wanted) -> Result<ToolOutput, String> {
        let mime = self.mime;
        if !wanted.attach {
            let text = format!(
                "Read image file [{mime}], but the current model takes no images: it is not attached."
            );
            return Ok(with_picture(text, None, self.details(path, length)));
        }
        if length > MOST_FILE {
            return Err(format!("{name} is an image of {}, which is too large to read.", size(length)));
        }
        let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}."))?;
        let mut details = self.details(path, length);
        if !wanted.resize {
            let text = format!("Read image file [{mime}]");
            return Ok(with_picture(text, Some((STANDARD.encode(bytes), mime)), details));
        }
        let ready = self
            .prepare(bytes, ACCEPTED)
            .map_err(|problem| format!("{name} can't be shown as an image: {problem}."))?;
        let mut text = format!("Read image file [{}]", ready.mime);
        if ready.before != ready.after {
            let ((width, height), (new_width, new_height)) = (ready.before, ready.after);
            let factor = f64::from(width) / f64::from(new_width);
            text.push_str(&format!(
                "\n[Image: original {width}x{height}, shown at {new_width}x{new_height}. Multiply coordinates by \
                 {factor:.2} for the original.]"
            ));
        }
        // Upright, where the header tells how it lies in the file.
        (details["width"], details["height"]) = (json!(ready.before.0), json!(ready.before.1));
        Ok(with_picture(text, Some((ready.data, ready.mime)), details))
    }

    /// What is known of the file, whatever the model gets of it.
    fn details(self, path: &Path, length: u64) -> Value {
        let mut details = json!({"mimeType": self.mime, "bytes": length});
        let sides = ImageReader::open(path).ok().and_then(|mut reader| {
            reader.set_format(self.format);
            reader.into_dimensions().ok()
        });
        if let Some((width, height)) = sides {
            (details["width"], details["height"]) = (json!(width), json!(height));
        }
        details
    }

    /// As it is when it is upright and small enough, else the first step of the ladder that fits.
    fn prepare(self, bytes: Vec<u8>, bounds: Bounds) -> Result<Ready, String> {
        let (picture, orientation) = self.decode(&bytes)?;
        let before = (picture.width(), picture.height());
        let fits = before.0 <= bounds.pixels && before.1 <= bounds.pixels;
        if orientation == Orientation::NoTransforms && fits && base64_length(bytes.len()) <= bounds.base64 {
            return Ok(Ready { data: STANDARD.encode(bytes), mime: self.mime, before, after: before });
        }
        drop(bytes);
        let picture =
            if fits { picture } else { picture.resize(bounds.pixels, bounds.pixels, FilterType::Lanczos3) };
        for scale in SCALES {
            let scaled = scaled(&picture, scale);
            for (data, mime) in encodings(&scaled, scale) {
                let data = data.map_err(|error| error.to_string())?;
                if base64_length(data.len()) <= bounds.base64 {
                    let after = (scaled.width(), scaled.height());
                    return Ok(Ready { data: STANDARD.encode(data), mime, before, after });
                }
            }
        }
        Err("it stays too large even at a quarter of the size".to_owned())
    }

    fn decode(self, bytes: &[u8]) -> Result<(DynamicImage, Orientation), String> {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), self.format);
        let mut limits = Limits::default();
        limits.max_alloc = Some(MOST_MEMORY);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(|error| error.to_string())?;
        // A picture whose orientation can't be read is shown as it is.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| error.to_string())?;
        picture.apply_orientation(orientation);
        Ok((picture, orientation))
    }
}

type Encoded = (image::ImageResult<Vec<u8>>, &'static str);

/// The forms of one scale, best first, made only when asked for. At full size PNG competes with JPEG, and the smaller
/// one wins.
fn encodings(picture: &DynamicImage, scale: f64) -> impl Iterator<Item = Encoded> + '_ {
    let first = (scale >= 1.0).then(|| smaller(png(picture), jpeg(picture, FIRST_QUALITY)));
    first.into_iter().chain(QUALITIES.into_iter().map(|quality| (jpeg(picture, quality), "image/jpeg")))
}

fn smaller(png: image::ImageResult<Vec<u8>>, jpeg: image::ImageResult<Vec<u8>>) -> Encoded {
    match (png, jpeg) {
        (Ok(png), Ok(jpeg)) if jpeg.len() < png.len() => (Ok(jpeg), "image/jpeg"),
        (Err(_), jpeg) => (jpeg, "image/jpeg"),
        (png, _) => (png, "image/png"),
    }
}

fn png(picture: &DynamicImage) -> image::ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

fn jpeg(picture: &DynamicImage, quality: u8) -> image::ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    // JPEG knows neither transparency nor more than eight bits.
    JpegEncoder::new_with_quality(&mut bytes, quality).encode_image(&picture.to_rgb8())?;
    Ok(bytes)
}

fn scaled(picture: &DynamicImage, scale: f64) -> DynamicImage {
    if scale >= 1.0 {
        return picture.clone();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2000 and positive")]
    let side = |pixels: u32| ((f64::from(pixels) * scale).round() as u32).max(1);
    picture.resize_exact(side(picture.width()), side(picture.height()), FilterType::Lanczos3)
}

const fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::message::{Block, text_of};
    use image::{Rgb, RgbImage};

    const WANTED: Wanted = Wanted { resize: true, attach: true };

    fn save(picture: &RgbImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn read(bytes: &[u8], wanted: Wanted) -> Result<ToolOutput, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture");
        std::fs::write(&path, bytes).unwrap();
        Picture::sniff(bytes).unwrap().read("picture", &path, bytes.len() as u64, wanted)
    }

    fn attached(output: &ToolOutput) -> (Vec<u8>, String) {
        let Some(Block::Image { data, mime_type }) = output.content.get(1) else { panic!("an image") };
        (STANDARD.decode(data).unwrap(), mime_type.clone())
    }

    #[test]
    fn a_small_picture_is_sent_as_it_is() {
        for (format, mime) in [
            (ImageFormat::Png, "image/png"),
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Gif, "image/gif"),
            (ImageFormat::WebP, "image/webp"),
        ] {
            let bytes = save(&RgbImage::new(20, 10), format);
            let output = read(&bytes, WANTED).unwrap();
            assert_eq!(attached(&output), (bytes.clone(), mime.to_owned()));
            assert_eq!(text_of(&output.content), format!("Read image file [{mime}]"));
            // The user is told also where the model is not.
            let expected = json!({"mimeType": mime, "bytes": bytes.len(), "width": 20, "height": 10});
            for wanted in [WANTED, Wanted { resize: false, ..WANTED }, Wanted { attach: false, ..WANTED }] {
                assert_eq!(read(&bytes, wanted).unwrap().details, Some(expected.clone()));
            }
        }
    }

    #[test]
    fn a_large_picture_is_shrunk_and_the_factor_told() {
        let bytes = save(&RgbImage::new(2400, 4), ImageFormat::Png);
        let output = read(&bytes, WANTED).unwrap();
        let (sent, _) = attached(&output);
        let sent = image::load_from_memory(&sent).unwrap();
        assert_eq!((sent.width(), sent.height()), (2000, 3));
        assert!(
            text_of(&output.content)
                .contains("original 2400x4, shown at 2000x3. Multiply coordinates by 1.20")
        );
        let (sent, _) = attached(&read(&bytes, Wanted { resize: false, ..WANTED }).unwrap());
        assert_eq!(sent, bytes);
    }

    #[test]
    fn noise_goes_down_the_ladder() {
        let mut random = fastrand::Rng::with_seed(7);
        let noise = RgbImage::from_fn(120, 90, |_, _| Rgb([random.u8(..), random.u8(..), random.u8(..)]));
        let bytes = save(&noise, ImageFormat::Png);
        let prepare = |base64| {
            let bounds = Bounds { pixels: 200, base64 };
            Picture::sniff(&bytes)
                .unwrap()
                .prepare(bytes.clone(), bounds)
                .map(|ready| (ready.mime, ready.after))
        };
        assert_eq!(prepare(60_000), Ok(("image/png", (120, 90))), "as it is");
        assert_eq!(prepare(20_000), Ok(("image/jpeg", (120, 90))), "a lower quality");
        let (_, (width, height)) = prepare(3_000).unwrap();
        assert!(width < 120 && height < 90, "a smaller scale");
        assert!(prepare(100).unwrap_err().contains("stays too large"));
    }

    #[test]
    fn a_photograph_is_turned_upright() {
        let mut left_red = RgbImage::new(40, 20);
        for (x, _, pixel) in left_red.enumerate_pixels_mut() {
            *pixel = if x < 20 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
        }
        let mut jpeg = save(&left_red, ImageFormat::Jpeg);
        // EXIF with orientation 6: turn clockwise by 90 degrees.
        let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        jpeg.splice(2..2, exif.iter().copied());
        let (sent, _) = attached(&read(&jpeg, WANTED).unwrap());
        let sent = image::load_from_memory(&sent).unwrap().to_rgb8();
        assert_eq!((sent.width(), sent.height()), (20, 40));
        assert!(sent.get_pixel(10, 5).0[0] > 200 && sent.get_pixel(10, 35).0[2] > 200);
    }

    #[test]
    fn what_can_not_be_shown_is_told() {
        let bytes = save(&RgbImage::new(20, 10), ImageFormat::Png);
        let output = read(&bytes, Wanted { attach: false, ..WANTED }).unwrap();
        assert_eq!(output.content.len(), 1);
        assert!(text_of(&output.content).contains("takes no images"));
        let error = read(&bytes[..40], WANTED).unwrap_err();
        assert!(error.starts_with("picture can't be shown as an image"), "{error}");
        assert_eq!(Picture::sniff(b"plain text"), None);
        assert_eq!(Picture::sniff(b"BM....."), None);
    }
}
