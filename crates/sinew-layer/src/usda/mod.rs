//! Text layers: `.usda`.

use crate::error::{Error, Result};
use crate::layer::Layer;

pub(crate) fn parse(name: &str, _text: &[u8]) -> Result<Layer> {
    Err(Error::Unsupported {
        file: name.to_owned(),
        reason: "text layers".to_owned(),
    })
}
