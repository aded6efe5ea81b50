// SPDX-License-Identifier: Apache-2.0
//! A digit that a network recognizes, from Rust.
//!
//!     rust_classify                                   a seven, with LeNet-5
//!     rust_classify DIGIT.png [MODEL.onnx [DEVICE]]
//!
//! The paths that are assumed hold in the repository's root.
mod morton;

use morton::{Compiled, Device, Error, Image, Model, Session};

fn classify(picture: &str, model: &str, selector: &str) -> Result<Vec<f32>, Error> {
    let device = Device::open(selector)?;
    let compiled = Compiled::new(&Model::load(model)?, &device)?;
    let input = compiled.input(0)?;
    let output = compiled.output(0)?;
    let digit = Image::read(picture)?.to_input(&input.extents)?;
    let mut session = Session::new(&compiled)?;
    session.set_input(&input.name, &digit)?;
    session.run()?;
    session.output(&output.name, output.elements())
}

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let argument = |i: usize, otherwise: &str| given.get(i).cloned().unwrap_or(otherwise.into());
    let picture = argument(1, "examples/data/digit_7.png");
    match classify(&picture, &argument(2, "models/lenet5.onnx"), &argument(3, "")) {
        Ok(shares) => {
            let mut best = 0;
            for kind in 1..shares.len() {
                if shares[kind] > shares[best] {
                    best = kind;
                }
            }
            println!("{picture} shows a {best} ({:.2} %)", 100.0 * shares[best]);
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
