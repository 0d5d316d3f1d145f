//! Presents a layer to openusd's writers with some fields changed, for `crate_first_token` and `crate_arrays`, without a copy
//! of the layer. It goes when both are gone.

use std::borrow::Cow;

use openusd::sdf::{self, AbstractData, DataError, Path, Value};

/// What is seen of a layer; what is not said otherwise is the layer's own.
pub(crate) trait LayerView {
    fn layer(&self) -> &dyn AbstractData;

    fn has_field(&self, path: &Path, field: &str) -> bool {
        self.layer().has_field(path, field)
    }

    fn try_field(&self, path: &Path, field: &str) -> Result<Option<Cow<'_, Value>>, DataError> {
        self.layer().try_field(path, field)
    }

    fn list_fields(&self, path: &Path) -> Option<Vec<String>> {
        self.layer().list_fields(path)
    }
}

/// A view as a format takes it.
pub(crate) struct Viewed<V>(pub V);

impl<V: LayerView> AbstractData for Viewed<V> {
    fn has_spec(&self, path: &Path) -> bool {
        self.0.layer().has_spec(path)
    }

    fn has_field(&self, path: &Path, field: &str) -> bool {
        self.0.has_field(path, field)
    }

    fn spec_type(&self, path: &Path) -> Option<sdf::SpecType> {
        self.0.layer().spec_type(path)
    }

    fn try_field(&self, path: &Path, field: &str) -> Result<Option<Cow<'_, Value>>, DataError> {
        self.0.try_field(path, field)
    }

    fn list_fields(&self, path: &Path) -> Option<Vec<String>> {
        self.0.list_fields(path)
    }

    fn spec_paths(&self) -> Vec<Path> {
        self.0.layer().spec_paths()
    }

    // These change nothing.

    fn create_spec(&mut self, _: Path, _: sdf::SpecType) {}

    fn erase_spec(&mut self, _: &Path) {}

    fn set_field(&mut self, _: &Path, _: &str, _: Value) {}

    fn erase_field(&mut self, _: &Path, _: &str) {}
}
