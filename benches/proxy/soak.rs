//! Hours of load instead of seconds: the memory and the descriptors must not grow, and no query may
//! fail. SOAK_MINUTES (10) says how long.

use crate::measure::{open_files, rss_mib};
use crate::setup::{Bench, Path};
use crate::{Outcome, idle, number, sysbench};

const THREADS: u32 = 64;
/// The caches are full after the first rounds; what is added later would be a leak.
const WARM_ROUNDS: u32 = 2;
const MAY_GROW: f64 = 1.10;

pub fn run() -> Outcome<()> {
    idle::raise_the_limit_of_open_files();
    let bench = Bench::start(true)?;
    let (port, pid) = (bench.port(Path::Bifold), bench.pid(Path::Bifold).ok_or("Bifold does not run")?);
    let rounds = number("SOAK_MINUTES", 10) + WARM_ROUNDS;
    let mut warm = (f64::MAX, usize::MAX);
    println!("round   queries   errors      MiB   descriptors");
    for round in 1..=rounds {
        let mut queries = 0.0;
        let mut errors = 0.0;
        for mode in ["--db-ps-mode=disable", "--db-ps-mode=auto"] {
            let args = [mode, "--range_selects=off", "--auto_inc=off"];
            let ran = sysbench::run_script("oltp_read_write", &args, port, 30, THREADS)?;
            queries += ran.queries;
            errors += ran.errors;
        }
        let now = (rss_mib(pid), open_files(pid));
        println!("{round:>5} {queries:>9.0} {errors:>8.0} {:>8.1} {:>13}", now.0, now.1);
        if round <= WARM_ROUNDS {
            warm = now;
        } else if now.0 > warm.0 * MAY_GROW || now.1 > warm.1 + 8 {
            return Err(format!("it grew: from {:.1} MiB and {} descriptors", warm.0, warm.1).into());
        }
    }
    Ok(())
}
