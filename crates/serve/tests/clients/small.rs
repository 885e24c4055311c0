//! An array that is quick to serve.

/// A RAID 6 of six small disks with two spares; `model` is where their description is found.
pub fn array(model: &str) -> String {
    format!(
        "name = \"small\"\nabout = \"Small disks\"\ninherits = \"queue\"\n\
         [devices]\nmodel = \"{model}\"\ncount = 8\n\
         [raid]\nlevel = \"6\"\ndisks = 6\nspares = 2\nchunk = \"64KiB\"\n"
    )
}

/// What each of them is.
pub const DISK: &str = r#"
name     = "small"
about    = "A small disk that takes 100 us"
kind     = "queue"
capacity = "96MiB"
servers  = 1
service  = "100us"
law      = "fixed"
"#;
