mod after_commit;
mod database_settings;
mod export_reader;
mod one_change;
mod watching;
