use super::*;
use crate::proto::event::NoticeLevel;
use proptest::prelude::*;

fn query(text: &str, is_regex: bool) -> Query {
    Query { text: text.to_owned(), is_regex }
}

fn found(text: &str, is_regex: bool, within: &str) -> Vec<String> {
    let pattern = Pattern::new(&query(text, is_regex)).unwrap().unwrap();
    let found = pattern.find_all(within);
    assert_eq!(pattern.count(within), found.len());
    found.into_iter().map(|range| within.get(range).unwrap().to_owned()).collect()
}

#[test]
fn lower_case_finds_both() {
    assert_eq!(found("größe", false, "Größe GRÖSSE größe"), ["Größe", "größe"]);
    assert_eq!(found("Err", false, "err Err ERR"), ["Err"]);
    assert_eq!(found("a.b", false, "a.b axb"), ["a.b"]);
    assert_eq!(found(r"\Serr", true, "xErr xerr"), ["xErr", "xerr"]);
}

#[test]
fn a_match_spans_no_lines_and_is_never_empty() {
    assert_eq!(found(r"a\s*b", true, "a\nb a b"), ["a b"]);
    assert_eq!(found("x*", true, "axxb"), ["xx"]);
    assert_eq!(found("^a|c$", true, "a c\nac"), ["a", "c", "a", "c"]);
    assert!(Pattern::new(&query("", true)).unwrap().is_none());
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let wrong = |text: &str| Pattern::new(&query(text, true)).unwrap_err();
    assert_eq!(wrong("ab(c"), WrongPattern { at: Some(2), what: "unclosed group".to_owned() });
    assert_eq!(wrong("日[b"), WrongPattern { at: Some(1), what: "unclosed character class".to_owned() });
    assert_eq!(wrong(r"\w{900}{900}").what, "too large an expression");
    assert!(Pattern::new(&query("ab(c", false)).is_ok());
}

fn notices(texts: &[String]) -> Conversation {
    let mut conversation = Conversation::new();
    for text in texts {
        conversation.notice(NoticeLevel::Info, text.clone());
    }
    conversation
}

fn searched(texts: &[&str], from: usize) -> Search {
    let conversation = notices(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let mut search = Search::new(pattern("x"), from, conversation.len());
    search.scan(&conversation, usize::MAX);
    assert!(search.is_done());
    search
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(&query(text, false)).unwrap().unwrap()
}

const fn at(item: usize, nth: usize) -> Match {
    Match { item, nth }
}

#[test]
fn the_first_match_is_at_or_after_the_place_else_before_it() {
    let search = searched(&["x", "xx", "-", "x", "-"], 1);
    assert_eq!(search.first(at(1, 0)), Step::To(at(1, 0)));
    assert_eq!(search.first(at(1, 1)), Step::To(at(1, 1)));
    assert_eq!(search.first(at(2, 0)), Step::To(at(3, 0)));
    assert_eq!(search.first(at(4, 0)), Step::To(at(3, 0)));
    assert_eq!(searched(&["-"], 0).first(at(0, 0)), Step::Nowhere);
}

#[test]
fn steps_go_round() {
    let search = searched(&["x", "xx", "-"], 0);
    assert_eq!(search.step(at(0, 0), Way::Next), Step::To(at(1, 0)));
    assert_eq!(search.step(at(1, 1), Way::Next), Step::Around(at(0, 0)));
    assert_eq!(search.step(at(0, 0), Way::Previous), Step::Around(at(1, 1)));
    // From a place that is no match.
    assert_eq!(search.step(at(2, 0), Way::Previous), Step::To(at(1, 1)));
    assert_eq!(search.step(at(2, 0), Way::Next), Step::Around(at(0, 0)));
    assert_eq!(searched(&["-"], 0).step(at(0, 0), Way::Next), Step::Nowhere);
    assert_eq!(search.held(at(1, 9)), Some(at(1, 1)));
    assert_eq!(search.held(at(2, 0)), None);
}

#[test]
fn it_goes_on_in_slices_from_where_it_began() {
    let texts: Vec<String> = (0..100).map(|_| "x".to_owned()).collect();
    let mut conversation = notices(&texts);
    let mut search = Search::new(pattern("x"), 60, 100);
    search.scan(&conversation, 10 * ITEM_COST);
    assert!(!search.is_done() && search.total() < 12);
    assert_eq!(search.first(at(60, 0)), Step::To(at(60, 0)));
    assert_eq!(search.step(at(60, 0), Way::Previous), Step::Later);
    let mut slices = 0;
    while !search.is_done() {
        search.scan(&conversation, 10 * ITEM_COST);
        slices += 1;
    }
    assert!((5..12).contains(&slices), "{slices}");
    assert_eq!((search.total(), search.before(at(60, 0))), (100, 60));
    // What comes and what changes is counted.
    conversation.notice(NoticeLevel::Info, "x x");
    assert_eq!(search.total(), 100);
    search.scan(&conversation, 10 * ITEM_COST);
    assert!(search.is_done());
    assert_eq!(search.total(), 102);
    if let Some(Item { body: Body::Notice { text, .. }, .. }) = conversation.item_mut(3) {
        text.push_str("xx");
    }
    search.scan(&conversation, 1);
    assert_eq!((search.total(), search.count(3)), (104, 3));
}

proptest! {
    /// Whatever the slices and wherever it begins, it counts what one pass over all texts counts.
    #[test]
    fn slices_make_no_difference(
        texts in prop::collection::vec("[xy\n ]{0,12}", 0..30),
        more in prop::collection::vec("[xy\n ]{0,12}", 0..6),
        from in 0_usize..30,
        budget in 1_usize..400,
        wanted in "[xy]{1,2}",
    ) {
        let mut conversation = notices(&texts);
        let wanted = pattern(&wanted);
        let mut search = Search::new(wanted.clone(), from, conversation.len());
        search.scan(&conversation, budget);
        for text in &more {
            conversation.notice(NoticeLevel::Info, text.clone());
            search.scan(&conversation, budget);
        }
        for _ in 0..60 {
            search.scan(&conversation, budget);
        }
        prop_assert!(search.is_done());
        let counts: Vec<usize> =
            conversation.items().iter().map(|item| wanted.count(&plain::text(item))).collect();
        prop_assert_eq!(search.total(), counts.iter().sum::<usize>() as u64);
        let mut matches = counts.iter().enumerate().flat_map(|(item, n)| (0..*n).map(move |nth| at(item, nth)));
        for (index, one) in matches.by_ref().enumerate() {
            prop_assert_eq!(search.before(one), index as u64);
            prop_assert_eq!(search.at(index as u64), Some(one));
        }
    }
}
