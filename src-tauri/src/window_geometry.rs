//! Size and place of the window, remembered from one start to the next, in logical pixels.
use serde::{Deserialize, Serialize};

/// A part of the desktop: the place of a window, or a monitor without its panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

impl Area {
    /// Converts physical to logical pixels.
    pub fn scaled(position: (i32, i32), size: (u32, u32), scale_factor: f64) -> Self {
        // A float that does not fit into the integer type becomes its largest or smallest value.
        let logical_position = |pixels: i32| (f64::from(pixels) / scale_factor).round() as i32;
        let logical_size = |pixels: u32| (f64::from(pixels) / scale_factor).round() as u32;
        Self {
            x: logical_position(position.0),
            y: logical_position(position.1),
            width: logical_size(size.0),
            height: logical_size(size.1),
        }
    }

    /// Number of pixels that both areas have in common.
    fn overlap(self, other: Self) -> i64 {
        let common_length = |from: i32, length: u32, other_from: i32, other_length: u32| {
            let end = (i64::from(from) + i64::from(length)).min(i64::from(other_from) + i64::from(other_length));
            (end - i64::from(from.max(other_from))).max(0)
        };
        common_length(self.x, self.width, other.x, other.width).saturating_mul(common_length(
            self.y,
            self.height,
            other.y,
            other.height,
        ))
    }
}

/// The geometry of the window as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowGeometry {
    /// The window's place while it is not maximised.
    #[serde(flatten)]
    pub area: Area,
    pub maximized: bool,
}

impl WindowGeometry {
    /// The geometry to store for a window that is at `area` now. The area of a maximised window is the whole monitor,
    /// so the area of `stored` is used instead. If `stored` is None, the window's `default_size` is stored.
    pub fn of_window(area: Area, maximized: bool, stored: Option<Self>, default_size: (u32, u32)) -> Self {
        let area = match (maximized, stored) {
            (false, _) => area,
            (true, Some(stored)) => stored.area,
            (true, None) => Area { width: default_size.0, height: default_size.1, ..area },
        };
        Self { area, maximized }
    }

    /// The geometry adjusted to these monitors, of which the first is the main one. The window is placed inside the
    /// monitor that contains most of it, or in the middle of the main monitor if no monitor contains a part of it. The
    /// size is at least `minimum_size`. None if there is no monitor.
    pub fn fitted(self, monitors: &[Area], minimum_size: (u32, u32)) -> Option<Self> {
        let main_monitor = *monitors.first()?;
        // The monitors are visited in reverse order, because `max_by_key` returns the last of several equal monitors,
        // and the main monitor should be preferred.
        let best = monitors.iter().rev().max_by_key(|monitor| self.area.overlap(**monitor))?;
        let is_visible = self.area.overlap(*best) > 0;
        let monitor = if is_visible { *best } else { main_monitor };
        let width = self.area.width.min(monitor.width).max(minimum_size.0);
        let height = self.area.height.min(monitor.height).max(minimum_size.1);
        let place = |wanted: i32, length: u32, start: i32, room: u32| {
            let free_space = i32::try_from(room.saturating_sub(length)).unwrap_or(i32::MAX);
            if is_visible {
                wanted.clamp(start, start.saturating_add(free_space))
            } else {
                start.saturating_add(free_space / 2)
            }
        };
        let x = place(self.area.x, width, monitor.x, monitor.width);
        let y = place(self.area.y, height, monitor.y, monitor.height);
        Some(Self { area: Area { x, y, width, height }, maximized: self.maximized })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const MINIMUM: (u32, u32) = (900, 600);
    const MAIN: Area = area(0, 0, 1920, 1080);
    const RIGHT: Area = area(1920, 0, 2560, 1440);
    const LEFT: Area = area(-1280, 0, 1280, 1024);

    const fn area(x: i32, y: i32, width: u32, height: u32) -> Area {
        Area { x, y, width, height }
    }

    #[test]
    fn a_window_opens_on_a_monitor_that_is_present() {
        for (case, saved, monitors, fitted) in [
            ("as it was", area(100, 50, 1280, 800), &[MAIN][..], area(100, 50, 1280, 800)),
            ("on the second monitor", area(2000, 100, 2400, 1200), &[MAIN, RIGHT], area(2000, 100, 2400, 1200)),
            ("left of the main monitor", area(-1200, 10, 1000, 700), &[MAIN, LEFT], area(-1200, 10, 1000, 700)),
            ("its monitor is gone", area(2000, 100, 1280, 800), &[MAIN], area(320, 140, 1280, 800)),
            ("its monitor is gone, and it was larger", area(2000, 100, 2400, 1200), &[MAIN], area(0, 0, 1920, 1080)),
            ("beyond the edges", area(1500, 900, 1280, 800), &[MAIN], area(640, 280, 1280, 800)),
            ("beyond the edges at the start", area(-500, -40, 1280, 800), &[MAIN], area(0, 0, 1280, 800)),
            ("on two monitors, most of it right", area(1800, 0, 1280, 800), &[MAIN, RIGHT], area(1920, 0, 1280, 800)),
            ("smaller than allowed", area(10, 10, 1, 1), &[MAIN], area(10, 10, 900, 600)),
            ("a monitor below the minimum", area(5, 5, 1280, 800), &[area(0, 0, 800, 480)], area(0, 0, 900, 600)),
            ("no size and no place", area(0, 0, 0, 0), &[RIGHT, MAIN], area(2750, 420, 900, 600)),
            ("numbers that no screen has", area(i32::MAX, i32::MIN, u32::MAX, u32::MAX), &[MAIN], MAIN),
            ("a panel at the top", area(0, 0, 1280, 800), &[area(0, 32, 1920, 1048)], area(0, 32, 1280, 800)),
        ] {
            for maximized in [false, true] {
                let saved = WindowGeometry { area: saved, maximized };
                let expected = WindowGeometry { area: fitted, maximized };
                assert_eq!(saved.fitted(monitors, MINIMUM), Some(expected), "{case}");
            }
        }
        let saved = WindowGeometry { area: area(0, 0, 1280, 800), maximized: false };
        assert_eq!(saved.fitted(&[], MINIMUM), None, "without a monitor, the system decides");
    }

    #[test]
    fn a_maximised_window_keeps_the_size_that_it_returns_to() {
        let whole = area(0, 0, 1920, 1080);
        let stored = WindowGeometry { area: area(100, 50, 1280, 800), maximized: false };
        let of_window = |area, maximized, stored| WindowGeometry::of_window(area, maximized, stored, (1280, 800));
        assert_eq!(of_window(whole, true, Some(stored)), WindowGeometry { maximized: true, ..stored });
        assert_eq!(of_window(whole, true, None).area, area(0, 0, 1280, 800));
        let moved = area(7, 8, 1000, 700);
        assert_eq!(of_window(moved, false, Some(stored)), WindowGeometry { area: moved, maximized: false });
    }

    #[test]
    fn physical_pixels_are_scaled() {
        assert_eq!(Area::scaled((-300, 150), (2560, 1600), 2.0), area(-150, 75, 1280, 800));
        assert_eq!(Area::scaled((1, 1), (1500, 900), 1.5), area(1, 1, 1000, 600));
    }

    #[test]
    fn the_geometry_is_stored_in_one_json_object() {
        let geometry = WindowGeometry { area: area(-5, 6, 1280, 800), maximized: true };
        let text = serde_json::to_string(&geometry).unwrap();
        assert_eq!(text, r#"{"x":-5,"y":6,"width":1280,"height":800,"maximized":true}"#);
        assert_eq!(serde_json::from_str::<WindowGeometry>(&text).unwrap(), geometry);
    }
}
