//! Files with keys reach no model unasked, not even in the result of a search around them.

use super::{CHAT, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;

#[test]
fn a_search_of_the_project_shows_no_keys() {
    let home = Home::new();
    home.write("app/.env", "TOKEN=sesame\n");
    home.write("app/settings", "TOKEN=from the environment\n");
    for (arguments, shown) in [
        (json!({"pattern": "TOKEN"}), "from the environment"),
        (json!({"pattern": "TOKEN", "glob": ".env", "path": "app"}), "1 file that may hold keys left out"),
        (json!({"pattern": "TOKEN", "path": "app/.env"}), "may hold keys"),
    ] {
        let call = Step::text("").call("grep", arguments.clone());
        let server = ModelServer::start(vec![call, Step::text("Done.")]);
        let ended = run(CHAT.command(&home, &server).arg("look for tokens"));
        assert_eq!(ended.code, 0, "{ended:?}");
        let result = server.requests()[1].body.to_string();
        assert!(result.contains(shown) && !result.contains("sesame"), "{arguments}: {result}");
    }
}
