use super::super::testing::{call, checked, context, failure, text};
use super::*;
use serde_json::json;
use std::fs;

#[tokio::test]
async fn the_result_has_the_recorded_shape() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "alpha\nbeta\ngamma\n").unwrap();
    let given = json!({"path": "a.txt", "edits": [{"oldText": "beta", "newText": "BETA"}]});
    let output = call(&Edit, dir.path(), given).await;
    assert_eq!(crate::proto::message::text_of(&output.content), "Successfully replaced 1 block(s) in a.txt.");
    let details = output.details.unwrap();
    assert_eq!(details["diff"], json!(" 1 alpha\n-2 beta\n+2 BETA\n 3 gamma"));
    assert_eq!(details["firstChangedLine"], json!(2));
    assert!(details["patch"].as_str().unwrap().starts_with("--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n"));
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "alpha\nBETA\ngamma\n");
}

#[tokio::test]
async fn the_shapes_that_models_send_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    for given in [
        json!({"path": "a", "oldText": "x", "newText": "y"}),
        json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
        json!({"path": "@a", "edits": "[{\"oldText\": \"x\", \"newText\": \"y\"}]"}),
        json!({"path": "a", "edits": {"oldText": "x", "newText": "y"}}),
    ] {
        fs::write(dir.path().join("a"), "x").unwrap();
        text(&Edit, dir.path(), given.clone()).await;
        assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "y", "{given}");
    }
}

#[tokio::test]
async fn a_failed_edit_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "x\n").unwrap();
    let given = json!({"path": "a.txt", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "q", "newText": ""}]});
    let error = failure(&Edit, dir.path(), given).await;
    assert!(error.contains("edits[1]") && error.ends_with("The file was not changed."), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "x\n");
    let error = failure(&Edit, dir.path(), json!({"path": "b.txt", "oldText": "x", "newText": "y"})).await;
    assert_eq!(error, "b.txt does not exist. Similar names in that folder: a.txt.");
    assert!(failure(&Edit, dir.path(), json!({"path": "a.txt", "edits": []})).await.contains("empty"));
    assert!(
        failure(&Edit, dir.path(), json!({"path": ".", "oldText": "x", "newText": "y"}))
            .await
            .contains("not a regular file")
    );
}

#[tokio::test]
async fn edits_of_one_file_do_not_lose_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = (10..40).map(|number| format!("item{number}")).collect();
    fs::write(dir.path().join("a"), names.join("\n")).unwrap();
    let cx = context(dir.path());
    // All begin before the first is awaited.
    let calls: Vec<_> = names
        .iter()
        .map(|name| {
            let given = json!({"path": "a", "oldText": name, "newText": name.to_uppercase()});
            tokio::spawn(Edit.run(checked(&Edit, given), cx.clone()))
        })
        .collect();
    for call in calls {
        assert!(!call.await.unwrap().is_error);
    }
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), names.join("\n").to_uppercase());
}
