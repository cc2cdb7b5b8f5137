// SPDX-License-Identifier: BSD-2-Clause
//! What is known of a filter goes through JSON and back.

use crate::support::scratch;
use tamis::FilterStat;

#[test]
fn a_stat_is_json() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = scratch();
    let seen = scratch.filter("gesehen \u{6771}\u{4eac}");
    seen.add("a")?;
    let stat = seen.stat()?;
    let text = serde_json::to_string(&stat)?;
    assert!(
        text.contains(r#""kind":"blocked""#) && text.contains(r#""on_full":"grow""#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<FilterStat>(&text)?, stat);
    Ok(())
}
