//! Options that are specific to one format.
use std::{any::Any, fmt, sync::Arc};

/// Options of one format, in that format's own type. Code that passes the options on does not know the type, and other
/// formats cannot read them.
#[derive(Clone, Default)]
pub struct FormatOptions(Option<Arc<dyn Any + Send + Sync>>);

impl FormatOptions {
    /// Options in a format's own type.
    pub fn new<T: Any + Send + Sync>(options: T) -> Self {
        Self(Some(Arc::new(options)))
    }

    /// The options, if they are of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }

    /// True if no options are set.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for FormatOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "FormatOptions(none)" } else { "FormatOptions(some)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_only_returned_as_their_own_type() {
        let options = FormatOptions::new(7u32);
        assert_eq!((options.get::<u32>(), options.get::<String>()), (Some(&7), None));
        assert!(FormatOptions::default().is_empty() && !options.is_empty());
    }
}
