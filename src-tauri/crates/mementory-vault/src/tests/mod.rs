mod export_reader;
mod watching;
