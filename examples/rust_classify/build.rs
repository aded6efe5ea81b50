// SPDX-License-Identifier: Apache-2.0
//! Says where libmorton is: in $MORTON_LIB_DIR, else where pkg-config has it.
use std::process::Command;

fn library_folder() -> String {
    if let Ok(folder) = std::env::var("MORTON_LIB_DIR") {
        return folder;
    }
    let asked = Command::new("pkg-config")
        .args(["--variable=libdir", "morton"])
        .output()
        .expect("set MORTON_LIB_DIR, or install pkg-config");
    assert!(
        asked.status.success(),
        "pkg-config does not know morton: install it, or set MORTON_LIB_DIR"
    );
    String::from_utf8_lossy(&asked.stdout).trim().to_string()
}

fn main() {
    let folder = library_folder();
    println!("cargo:rerun-if-env-changed=MORTON_LIB_DIR");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=dylib=morton");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
