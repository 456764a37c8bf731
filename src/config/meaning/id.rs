//! The ids of a table: fields that add up to 63 bits, an epoch that has begun, a modulus that
//! fits and can be doubled.

use super::Teller;
use super::access::count;
use crate::config::id::{DEFAULT_EPOCH_MS, GeneratedBatch, IdBits, IdLayout, IdRule, largest_modulus};
use crate::config::instant::utc;
use crate::config::written::Node;

const YEAR_MS: u64 = 31_556_952_000;

/// The table whose ids they are.
pub(super) struct Host<'a> {
    /// The sharding key, unless it is missing.
    pub key: Option<&'a str>,
    /// N
    pub shards: u32,
    /// T
    pub subtables: u32,
}

pub(super) fn id(node: &Node, host: &Host<'_>, teller: &mut Teller<'_>) -> Option<IdRule> {
    if node.is_wrong() {
        return None;
    }
    if let Some(column) = node.text() {
        let layout = IdLayout { bits: IdBits::PLAIN, epoch_ms: DEFAULT_EPOCH_MS, tag: 0, carries: None };
        return Some(IdRule { column: column.to_owned(), layout, generated_batch: GeneratedBatch::Allow });
    }
    let carries = node.at("carries_key");
    let carries_key = carries.flag().unwrap_or(true);
    if carries_key {
        same_column(node.at("column"), host, teller);
    }
    let bits = bits(node.at("bits"), carries_key, teller);
    let epoch_ms = epoch(node.at("epoch"), bits, teller);
    let tag = tag(node.at("tag"), bits, teller);
    let carries =
        if carries_key && !carries.is_wrong() { modulus(carries, bits?, host, teller).map(Some) } else { Some(None) };
    let generated_batch = generated_batch(node.at("generated_batch"), carries_key, teller);
    Some(IdRule {
        column: node.at("column").text()?.to_owned(),
        layout: IdLayout { bits: bits?, epoch_ms: epoch_ms?, tag: tag?, carries: carries? },
        generated_batch: generated_batch?,
    })
}

fn same_column(node: &Node, host: &Host<'_>, teller: &mut Teller<'_>) {
    let same = node.text().zip(host.key).is_some_and(|(column, key)| column.eq_ignore_ascii_case(key));
    if same {
        teller.mistake(
            node,
            "is the sharding key itself, which can't carry its own hash",
            "leave carries_key out: the key finds the row already",
        );
    }
}

fn bits(node: &Node, carries_key: bool, teller: &mut Teller<'_>) -> Option<IdBits> {
    if node.is_wrong() || node.entries().iter().any(|(_, width)| width.is_wrong()) {
        return None;
    }
    let usual = if carries_key { IdBits::CARRIES_KEY } else { IdBits::PLAIN };
    let width = |name, usual| node.at(name).number().and_then(|width| u8::try_from(width).ok()).unwrap_or(usual);
    let bits = IdBits {
        time: width("time", usual.time),
        worker: width("worker", usual.worker),
        tag: width("tag", usual.tag),
        place: width("place", usual.place),
        sequence: width("sequence", usual.sequence),
    };
    if !carries_key && bits.place > 0 {
        teller.mistake(
            node.at("place"),
            format!("is {} without carries_key", bits.place),
            "add carries_key = true, or leave place out",
        );
        return None;
    }
    if bits.sum() != 63 {
        teller.mistake(
            node,
            format!(
                "time {} + worker {} + tag {} + place {} + sequence {} are {} bits",
                bits.time,
                bits.worker,
                bits.tag,
                bits.place,
                bits.sequence,
                bits.sum()
            ),
            format!("they must add up to 63; {}", change(bits.sum())),
        );
        return None;
    }
    Some(bits)
}

fn change(sum: u32) -> String {
    if sum > 63 { format!("take {} away", sum - 63) } else { format!("add {}", 63 - sum) }
}

fn epoch(node: &Node, bits: Option<IdBits>, teller: &mut Teller<'_>) -> Option<u64> {
    let epoch = u64::try_from(node.number()?).ok()?;
    let now = teller.around.now_ms;
    if epoch > now {
        teller.mistake(
            node,
            format!("{} lies in the future", utc(epoch)),
            "ids would have a negative time; name an instant that has passed",
        );
        return None;
    }
    let end = epoch + (1u64 << bits?.time);
    if end <= now {
        teller.mistake(
            node,
            format!("the time field ran out at {}", utc(end)),
            "name a later epoch or give bits.time more",
        );
        return None;
    }
    if end - now < 10 * YEAR_MS {
        teller.warning(node, format!("the time field runs out at {}", utc(end)), "give bits.time more");
    }
    Some(epoch)
}

fn tag(node: &Node, bits: Option<IdBits>, teller: &mut Teller<'_>) -> Option<u32> {
    let (tag, width) = (count(node)?, bits?.tag);
    if u64::from(tag) >> width != 0 {
        let remedy = if width == 0 {
            "give the field a width, as bits.tag = 4".to_owned()
        } else {
            format!("write a number below {}", 1u64 << width)
        };
        teller.mistake(node, format!("{tag} does not fit the tag field of {width} bits"), remedy);
        return None;
    }
    Some(tag)
}

/// M: what the file fixes, or the largest that fits.
fn modulus(node: &Node, bits: IdBits, host: &Host<'_>, teller: &mut Teller<'_>) -> Option<u32> {
    if host.shards == 0 {
        return None; // told where the shards are
    }
    let (n, t) = (host.shards, host.subtables);
    let Some(largest) = largest_modulus(n, t, bits.place) else {
        let needed = (u64::from(n) * u64::from(t)).next_power_of_two().ilog2();
        teller.mistake(
            node,
            format!("{n} shards × {t} subtables do not fit the place field of {} bits", bits.place),
            format!("write bits.place = {needed} or more, with bits.time, worker and sequence so that all are 63"),
        );
        return None;
    };
    let Some(given) = count(node) else { return Some(largest) };
    if given % n != 0 || !(given / n).is_power_of_two() {
        teller.mistake(
            node,
            format!("{given} is not {n} shards times a power of two"),
            format!("write {largest}, or true"),
        );
        return None;
    }
    if given > largest {
        teller.mistake(
            node,
            format!("{given} × {t} subtables do not fit the place field of {} bits", bits.place),
            format!("write at most {largest}, or true, or give bits.place more"),
        );
        return None;
    }
    Some(given)
}

fn generated_batch(node: &Node, carries_key: bool, teller: &mut Teller<'_>) -> Option<GeneratedBatch> {
    if node.given && !carries_key {
        teller.mistake(
            node,
            "means nothing without carries_key",
            "leave it out: plain ids of one statement are consecutive",
        );
        return None;
    }
    match node.text()? {
        "refuse" => Some(GeneratedBatch::Refuse),
        _ => Some(GeneratedBatch::Allow),
    }
}
