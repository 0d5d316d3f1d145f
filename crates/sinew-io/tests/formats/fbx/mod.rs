//! FBX, with the cargo feature `fbx` and without.

#[cfg(feature = "fbx")]
mod character;

#[cfg(not(feature = "fbx"))]
#[test]
fn without_the_feature_the_error_says_how_to_get_it() {
    let error = sinew_io::fbx::read(&common::fbx::path("tube")).unwrap_err();
    assert!(matches!(error, sinew_io::Error::Unsupported { .. }));
    let error = error.to_string();
    for word in ["tube.fbx", "`fbx`", "--no-default-features", "C compiler"] {
        assert!(error.contains(word), "'{error}' should say '{word}'");
    }
}
