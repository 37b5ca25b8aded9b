//! Builds a text from templates and records the positions of its values.
use super::{rng::Rng, slots};
use mementory_scan::Class;
use std::ops::Range;

/// A text of the set. `about` contains its kind and the slots of its values in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledText {
    pub text: String,
    pub values: Vec<(Class, Range<usize>)>,
    pub about: String,
}

#[derive(Default)]
pub struct Text {
    pub text: String,
    pub values: Vec<(Class, Range<usize>)>,
    pub slots: Vec<String>,
}

impl Text {
    /// Appends a template. Each `⟨slot⟩` is replaced by a text, which is labelled if the slot has a class.
    pub fn write(&mut self, rng: &mut Rng, template: &str) {
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('⟨') {
            let (slot, after) = after.split_once('⟩').expect("a template closes its slots");
            self.text.push_str(before);
            let start = self.text.len();
            self.text.push_str(&slots::text_for(rng, slot));
            if let Some(class) = slots::class_of(slot) {
                self.values.push((class, start..self.text.len()));
                self.slots.push(slot.to_owned());
            }
            rest = after;
        }
        self.text.push_str(rest);
    }

    pub fn into_labelled(self, kind: &str) -> LabelledText {
        LabelledText { text: self.text, values: self.values, about: format!("{kind}: {}", self.slots.join(" ")) }
    }
}

/// The classes of the slots in a template. Slots without a class are left out.
pub fn classes_in_template(template: &str) -> impl Iterator<Item = Class> + '_ {
    template.split('⟨').skip(1).filter_map(|part| slots::class_of(part.split('⟩').next()?))
}

/// A random template that contains a value of this class. None if there is no such template.
pub fn pick_template_with<'a>(rng: &mut Rng, templates: &[&'a str], class: Class) -> Option<&'a str> {
    let fitting: Vec<&str> = templates.iter().copied().filter(|t| classes_in_template(t).any(|c| c == class)).collect();
    (!fitting.is_empty()).then(|| rng.pick(&fitting))
}
