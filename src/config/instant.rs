//! UTC instants as the topology file writes them, and milliseconds of Unix time.

use toml_edit::{Datetime, Offset};

/// Milliseconds of Unix time, or what is wrong with the text.
pub(super) fn from_datetime(written: &Datetime) -> Result<u64, String> {
    let (Some(date), Some(time)) = (written.date, written.time) else {
        return Err(format!("{written} lacks its date or its time"));
    };
    match written.offset {
        Some(Offset::Z | Offset::Custom { minutes: 0 }) => {}
        Some(Offset::Custom { .. }) | None => return Err(format!("{written} is not in UTC")),
    }
    let days = days_from_civil(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let clock = (i64::from(time.hour) * 60 + i64::from(time.minute)) * 60 + i64::from(time.second.unwrap_or(0));
    let ms = (days * 86_400 + clock) * 1000 + i64::from(time.nanosecond.unwrap_or(0) / 1_000_000);
    u64::try_from(ms).map_err(|_| format!("{written} lies before 1970"))
}

/// `2024-01-01T00:00:00Z`, with milliseconds where there are some.
pub fn utc(ms: u64) -> String {
    let (days, of_day) = (ms / 86_400_000, ms % 86_400_000);
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second, milli) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
    let fraction = if milli == 0 { String::new() } else { format!(".{milli:03}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// Days since 1970-01-01 in the Gregorian calendar. A year is counted from March, so that the
/// leap day is its last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 306 + 5) / 10 + day - 1 - 719_468
}

fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (year_of_era * 365 + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<u64, String> {
        from_datetime(&text.parse().unwrap())
    }

    #[test]
    fn an_instant_is_read_and_printed() {
        assert_eq!(read("2024-01-01T00:00:00Z"), Ok(super::super::DEFAULT_EPOCH_MS));
        assert_eq!(read("1970-01-01T00:00:00+00:00"), Ok(0));
        for text in ["2000-02-29T12:34:56.789Z", "2100-03-01T00:00:00Z", "1999-12-31T23:59:59Z", "2024-02-29T00:00:00Z"]
        {
            assert_eq!(utc(read(text).unwrap()), text);
        }
        for day in 0..200_000 {
            let ms = day * 86_400_000;
            assert_eq!(read(&utc(ms)), Ok(ms));
        }
    }

    #[test]
    fn only_utc_is_taken() {
        assert!(read("2024-01-01T00:00:00+08:00").unwrap_err().contains("not in UTC"));
        assert!(read("2024-01-01T00:00:00").unwrap_err().contains("not in UTC"));
        assert!(read("2024-01-01").unwrap_err().contains("lacks"));
        assert!(read("1969-12-31T23:59:59Z").unwrap_err().contains("before 1970"));
    }
}
