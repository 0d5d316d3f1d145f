//! `sinew check` and `sinew fix`: their texts, JSON and exit codes.

use common::command::{Bench, sinew};
use common::stages::stages;
use libtest_mimic::Failed;
use sinew_check::{CheckOptions, all_codes, check_file};

type Outcome = Result<(), Failed>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A file with an error, and one with a warning.
fn two_files() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str, case: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, stages().case(case).text()).expect("written");
        file.to_str().expect("UTF-8").to_owned()
    };
    let error = place("error.usda", "parents after children");
    let warning = place("warning.usda", "weights sum to more than one");
    (folder, error, warning)
}

#[test]
fn check_text() -> Outcome {
    let (_folder, error, warning) = two_files();
    let output = sinew(&["check", &error, &warning]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    for word in [
        "error.usda",
        "/R/Skel",
        "joint-order",
        "warning.usda",
        "weights-unnormalised",
        "-> normalise them",
        "0 errors, 1 warning",
        "`sinew fix` can fix 1",
    ] {
        assert!(out.contains(word), "'{out}' should say '{word}'");
    }
    assert!(!out.contains('\x1b'), "no colour in a pipe");
    assert!(output.stderr.is_empty());
    let output = sinew(&["check", &warning, "--severity", "error"]);
    assert!(!text(&output.stdout).contains("weights-unnormalised"));
    Ok(())
}

#[test]
fn check_json() -> Outcome {
    let (folder, error, warning) = two_files();
    let output = sinew(&["check", "--json", &error]);
    assert_eq!(output.status.code(), Some(1));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(
        (&printed["schema_version"], &printed["exit_code"]),
        (&2.into(), &1.into())
    );
    assert_eq!(printed["files"].as_array().map(Vec::len), Some(1));
    let one = &printed["files"][0];
    assert!(
        one["file"]
            .as_str()
            .is_some_and(|f| f.ends_with("error.usda"))
    );
    assert!(one["counts"]["errors"].as_u64() > Some(0));
    let findings = one["findings"].as_array().ok_or("a list")?;
    let order = findings
        .iter()
        .find(|f| f["code"] == "joint-order")
        .ok_or("joint-order")?;
    assert_eq!(order["severity"], "error");
    assert_eq!(order["path"], "/R/Skel");
    assert_eq!(order["property"], "joints");
    assert_eq!(order["fixable"], false);
    assert!(order["message"].is_string() && order["advice"].is_string());

    let gone = folder.path().join("gone.usda");
    let output = sinew(&["check", "--json", &warning, gone.to_str().ok_or("UTF-8")?]);
    assert_eq!(output.status.code(), Some(2));
    let both: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let both = &both["files"];
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    assert_eq!(both[0]["counts"]["warnings"], 1);
    assert!(
        both[1]["error"]["message"]
            .as_str()
            .is_some_and(|e| e.contains("cannot open"))
    );
    Ok(())
}

#[test]
fn check_exit_codes() -> Outcome {
    let (folder, error, warning) = two_files();
    let good = folder.path().join("good.usda");
    std::fs::write(&good, stages().base("character"))?;
    let good = good.to_str().ok_or("UTF-8")?;
    let gone = folder.path().join("gone.usda");
    let gone = gone.to_str().ok_or("UTF-8")?;
    for (args, code) in [
        (&["check", good][..], 0),
        (&["check", good, "--strict"], 0),
        (&["check", &warning], 0),
        (&["check", &warning, "--strict"], 1),
        (&["check", &warning, "--strict", "--severity", "error"], 1),
        (&["check", &error], 1),
        (&["check", good, &error], 1),
        (&["check", gone], 2),
        (&["check", gone, &error], 2),
        (&["check"], 2),
        (&["check", good, "--max-influences", "0"], 2),
        (&["check", good, "--max-influences", "1"], 0),
        (&["check", good, "--max-influences", "1", "--strict"], 1),
        (&["check", "--help"], 0),
    ] {
        let output = sinew(args);
        let says = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {says}");
        assert!(!says.contains("panicked"), "{says}");
    }
    Ok(())
}

#[test]
fn check_codes() -> Outcome {
    let output = sinew(&["check", "--codes"]);
    assert_eq!(output.status.code(), Some(0));
    let out = text(&output.stdout);
    for c in all_codes() {
        assert!(
            out.contains(c.code) && out.contains(c.meaning),
            "{}",
            c.code
        );
    }
    let output = sinew(&["check", "--codes", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let codes = json["codes"].as_array();
    assert_eq!(codes.map(Vec::len), Some(all_codes().count()));
    Ok(())
}

#[test]
fn fix() -> Outcome {
    let bench = Bench::new();
    let input = bench.write("in.usda", stages().case("three ways at once").text());
    let out = bench.path("out.usda");
    let (i, o) = (input.to_str().ok_or("UTF-8")?, out.to_str().ok_or("UTF-8")?);
    let output = sinew(&["fix", i, "-o", o]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let says = text(&output.stdout);
    for word in [
        " */R/M.primvars:skel:jointWeights: normalised [weights-unnormalised]",
        "  /R/M.primvars:skel:jointWeights: sorted [weights-unsorted]",
        "/R/M/Smile.inbetweens:half: removed [inbetween-skipped]",
        " */R/Stiff: SkelBindingAPI applied [binding-api-missing]",
        "4 findings fixed, 0 not fixed",
        "no findings remain",
    ] {
        assert!(says.contains(word), "'{says}' should say '{word}'");
    }
    assert!(!std::fs::read_to_string(&out)?.contains("inbetweens:half"));

    let output = sinew(&["fix", i, "-o", o, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(json["fixed"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["after"]["counts"]["errors"], 0);
    assert!(json["before"]["counts"]["errors"].as_u64() > Some(0));

    assert_eq!(sinew(&["fix", i]).status.code(), Some(2));
    assert_eq!(sinew(&["fix", i, "-o", i]).status.code(), Some(1));
    let gone = bench.path("gone.usda");
    let gone = gone.to_str().ok_or("UTF-8")?;
    assert_eq!(sinew(&["fix", gone, "-o", o]).status.code(), Some(1));
    Ok(())
}

/// A file with an error that needs a person: the exit code says so, and the counts add up.
#[test]
fn errors_that_fix_leaves_are_told_by_its_exit_code() -> Outcome {
    let bench = Bench::new();
    let good = stages().case("three ways at once").text().to_owned();
    let broken = good.replace("rel skel:skeleton = ", "rel skel:skeleton = </Nowhere> # ");
    assert_ne!(good, broken);
    let input = bench.write("in.usda", broken);
    let out = bench.path("out.usda");
    let (i, o) = (input.to_str().ok_or("UTF-8")?, out.to_str().ok_or("UTF-8")?);
    for args in [
        &["fix", i, "-o", o, "--json"][..],
        &["fix", i, "-o", o, "--allow-partial", "--json"],
        &["fix", i, "--dry-run", "--json"],
    ] {
        let output = sinew(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(json["exit_code"], 1);
    }
    assert!(out.exists());
    assert_eq!(sinew(&["check", o]).status.code(), Some(1));
    let output = sinew(&["fix", i, "-o", o]);
    let says = text(&output.stdout);
    let before = check_file(&input, &CheckOptions::default())?;
    let after = check_file(&out, &CheckOptions::default())?;
    let line = says.lines().find(|l| l.contains(" fixed, "));
    let line = line.ok_or("no counts")?.replace(';', "");
    let numbers = line.split_whitespace().filter_map(|w| w.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    assert_eq!(numbers[0] + numbers[1], before.findings.len(), "{line}");
    assert_eq!(numbers[2], after.counts.errors, "{line}");
    Ok(())
}

#[test]
fn fix_only_and_dry_run() -> Outcome {
    let bench = Bench::new();
    let input = bench.write("in.usda", stages().case("three ways at once").text());
    let out = bench.path("out.usda");
    let (i, o) = (input.to_str().ok_or("UTF-8")?, out.to_str().ok_or("UTF-8")?);
    let output = sinew(&["fix", i, "--dry-run", "-o", o]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("4 findings to fix"));
    assert!(!out.exists());
    let only = "weights-unsorted,inbetween-skipped";
    let output = sinew(&["fix", i, "-o", o, "--only", only]);
    assert!(text(&output.stdout).contains("2 findings fixed"));
    let after = check_file(&out, &CheckOptions::default())?;
    assert!(after.of("weights-unnormalised").next().is_some());
    assert!(after.of("weights-unsorted").next().is_none());
    let output = sinew(&["fix", i, "-o", o, "--only", "no-such-code"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no-such-code"));
    Ok(())
}
