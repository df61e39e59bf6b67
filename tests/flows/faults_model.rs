//! What goes wrong between Mynah and a model.

use super::{DIALECTS, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};

#[test]
fn a_plain_answer() {
    for dialect in DIALECTS {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Hello there.")]));
        let ended = run(dialect.command(&home, &server).arg("hi"));
        assert_eq!((ended.stdout.as_str(), ended.code), ("Hello there.\n", 0), "{}: {ended:?}", dialect.name);
        assert_eq!(server.violations(), Vec::<String>::new(), "{}", dialect.name);
    }
}
