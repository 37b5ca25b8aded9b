//! Writes `bindings.ts` and `formats.ts` in `ui/src/lib/ipc`. With the argument `-`, prints `bindings.ts` instead. This
//! is an example and not a binary, because the binaries of this crate are shipped in the packages.
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let target = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/src/lib/ipc/bindings.ts");
    let formats = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/src/lib/ipc/formats.ts");
    let written = mementory_app::ipc::bindings().and_then(|text| {
        if std::env::args().nth(1).as_deref() == Some("-") {
            std::io::stdout().write_all(text.as_bytes())
        } else {
            std::fs::write(target, text).and_then(|()| std::fs::write(formats, mementory_app::ipc::formats()))
        }
        .map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}
