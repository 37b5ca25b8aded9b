mod after_commit;
mod export_reader;
mod watching;
