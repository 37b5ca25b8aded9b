//! `cargo run -p mementory-insight --example people -- FILE`: prints the people that the lines of a text file name.
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("Which file?")?;
    let text = std::fs::read_to_string(file)?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for person in mementory_insight::people(&lines) {
        println!("{:?}\t{:?}\t{:?}\t{}", person.name, person.relation, person.of, person.texts.len());
    }
    Ok(())
}
