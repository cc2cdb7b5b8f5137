// SPDX-License-Identifier: BSD-2-Clause
//! A crawler of ../README.md, by ureq and tl: crawl STORE QUEUE NAME SITE.
mod work;

use std::env;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tamis::Store;
use ureq::Agent;
use url::Url;
use work::{Result, Work};

const WORKERS: usize = 4; // each has a file of the queue in its hands
const OVER: Duration = Duration::from_secs(1);

fn links_of(agent: &Agent, url: &str) -> Result<Vec<String>> {
    let mut response = agent.get(url).call()?;
    let mut links = Vec::new();
    if let Some(to) = response.headers().get("location") {
        links.push(to.to_str()?.to_string());
    }
    if response.status().is_success() {
        let text = response.body_mut().read_to_string()?;
        let page = tl::parse(&text, tl::ParserOptions::default())?;
        let anchors = page.query_selector("a[href]").into_iter().flatten();
        let tags = anchors.filter_map(|a| a.get(page.parser())?.as_tag());
        let hrefs = tags.filter_map(|a| a.attributes().get("href").flatten());
        links.extend(hrefs.map(|href| href.as_utf8_str().into_owned()));
    }
    let base = Url::parse(url)?;
    Ok(links
        .iter()
        .filter_map(|link| base.join(link).ok())
        .map(String::from)
        .collect())
}

/// Fetches the pages of a file side by side, and returns their links.
fn fetch(agent: &Agent, urls: &[String]) -> Result<Vec<String>> {
    thread::scope(|scope| {
        let pages: Vec<_> = urls
            .iter()
            .map(|url| scope.spawn(move || links_of(agent, url)))
            .collect();
        let mut links = Vec::new();
        for page in pages {
            links.extend(page.join().map_err(|_| "a thread has panicked")??);
        }
        Ok(links)
    })
}

fn crawl(agent: &Agent, work: &Work) -> Result<()> {
    let mut empty = None;
    while empty.is_none_or(|since: Instant| since.elapsed() < OVER) {
        if let Some(claimed) = work.claim()? {
            work.put(&fetch(agent, &claimed.urls)?)?;
            work.finish(&claimed)?;
            empty = None;
            continue;
        }
        empty = if work.is_empty()? {
            empty.or_else(|| Some(Instant::now()))
        } else {
            None
        };
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let [_, store, queue, name, site] = arguments.as_slice() else {
        return Err("usage: crawl STORE QUEUE NAME SITE".into());
    };
    let agent: Agent = Agent::config_builder()
        .user_agent(name)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .build()
        .into();
    agent.get(format!("{site}/ready")).call()?;
    let store = Store::open(store)?;
    let work = Work::begin(&store, Path::new(queue), name)?;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| scope.spawn(|| crawl(&agent, &work)))
            .collect();
        for worker in workers {
            worker.join().map_err(|_| "a thread has panicked")??;
        }
        Ok(())
    })
}
