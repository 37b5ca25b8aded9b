//! The neural network. It works in four steps:
//! 1. Each piece gets its own vector.
//! 2. Windows of 2, 3 and 5 pieces add numbers for the neighbours of each piece.
//! 3. The sum over all pieces is divided by the square root of how many pieces there are.
//! 4. Four layers convert this sum to the vector of the text.
use crate::{EncoderError, Vector, arrays::Arrays, vector::DIMENSIONS};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice, Zip};
use std::ops::Range;

/// Number of parts into which the embedding table is divided. Each part has its own scale. Piece `n` is row `n /
/// PART_COUNT` of part `n % PART_COUNT`.
const PART_COUNT: usize = 17;
const ROWS_PER_PART: usize = 7_530;
/// Number of values that a window yields for each piece.
const WINDOW_DIMENSIONS: usize = 256;
/// Number of values for each piece: those of the piece itself, and those of three windows.
const FEATURES: usize = DIMENSIONS + 3 * WINDOW_DIMENSIONS;
/// Width of the hidden layers that follow the sum.
const HIDDEN_WIDTH: usize = 320;

const ROWS: Axis = Axis(0);
const COLUMNS: Axis = Axis(1);

/// Converts a range to a slice of an axis. Used instead of ndarray's macro for slices, because the macro contains
/// unsafe code.
fn range(range: Range<usize>) -> Slice {
    Slice::from(range)
}

/// A window over neighbouring pieces, with two layers. Each layer adds its result to its input.
struct Window {
    size: usize,
    /// Number of pieces in the window that precede the piece to which the window is applied.
    pieces_before: usize,
    first: (Array2<f32>, Array1<f32>),
    second: (Array2<f32>, Array1<f32>),
}

/// The weights of the network.
pub struct Network {
    table: Vec<Vec<u8>>,
    scale: Array1<f32>,
    lowest: Array1<f32>,
    projection: (Array2<f32>, Array1<f32>),
    projection_norm: (Array1<f32>, Array1<f32>),
    windows: Vec<Window>,
    norm: (Array1<f32>, Array1<f32>),
    reduction: (Array2<f32>, Array1<f32>),
    layers: [Array2<f32>; 4],
    shortcuts: [Array2<f32>; 2],
    epsilon: f32,
}

impl Network {
    /// Reads the weights from an archive.
    pub fn new(file: &[u8]) -> Result<Self, EncoderError> {
        let arrays = &mut Arrays::open(file)?;
        let table = (1..=PART_COUNT).map(|part| arrays.bytes(&format!("q{part}"), "|u1", ROWS_PER_PART * DIMENSIONS));
        let table = table.collect::<Result<_, _>>()?;
        let windows = [(2, 0), (3, 1), (5, 2)].map(|(size, pieces_before)| -> Result<Window, EncoderError> {
            let mut layer = |n: u8| -> Result<_, EncoderError> {
                let weights = arrays.matrix(&format!("w{n}_{size}"), size * WINDOW_DIMENSIONS, WINDOW_DIMENSIONS)?;
                Ok((weights, arrays.list(&format!("b{n}_{size}"), WINDOW_DIMENSIONS)?))
            };
            Ok(Window { size, pieces_before, first: layer(1)?, second: layer(2)? })
        });
        let windows = windows.into_iter().collect::<Result<_, _>>()?;
        let width = WINDOW_DIMENSIONS;
        Ok(Self {
            table,
            scale: arrays.list("scale", PART_COUNT)?,
            lowest: arrays.list("lo", PART_COUNT)?,
            projection: (
                arrays.matrices(["proj2", "proj3", "proj5"], DIMENSIONS, width)?,
                arrays.lists(["proj_b2", "proj_b3", "proj_b5"], width)?,
            ),
            projection_norm: (
                arrays.lists(["ln_g2", "ln_g3", "ln_g5"], width)?,
                arrays.lists(["ln_b2", "ln_b3", "ln_b5"], width)?,
            ),
            windows,
            norm: (arrays.list("ln_g", FEATURES)?, arrays.list("ln_b", FEATURES)?),
            reduction: (arrays.matrix("cnn_W", FEATURES, DIMENSIONS)?, arrays.list("cnn_b", DIMENSIONS)?),
            layers: [
                arrays.matrix("d0", DIMENSIONS, HIDDEN_WIDTH)?,
                arrays.matrix("d1", HIDDEN_WIDTH, HIDDEN_WIDTH)?,
                arrays.matrix("d2", HIDDEN_WIDTH, DIMENSIONS)?,
                arrays.matrix("d3", DIMENSIONS, DIMENSIONS)?,
            ],
            shortcuts: [arrays.matrix("p1", DIMENSIONS, HIDDEN_WIDTH)?, arrays.matrix("p3", HIDDEN_WIDTH, DIMENSIONS)?],
            epsilon: arrays.number("eps")? as f32,
        })
    }

    /// Number of pieces in the vocabulary of the network.
    pub fn piece_count(&self) -> usize {
        PART_COUNT * ROWS_PER_PART
    }

    /// Encodes texts and adds their vectors to `vectors`. Each text is given as the numbers of its pieces, and must
    /// have at least one.
    pub fn encode(&self, texts: &[Vec<u32>], vectors: &mut Vec<Vector>) {
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut features = self.features(texts, lengths.iter().sum());
        layer_norm(features.view_mut(), &self.norm, self.epsilon);
        // The next layer is linear, so the rows of each text can be summed before the layer is applied. The layer then
        // processes one row for each text instead of one for each piece.
        let mut sums = Array2::<f32>::zeros((texts.len(), FEATURES));
        let mut start = 0;
        for (mut sum, length) in sums.rows_mut().into_iter().zip(&lengths) {
            sum.assign(&features.slice_axis(ROWS, range(start..start + length)).sum_axis(ROWS));
            start += length;
        }
        let mut scaled_sums = sums.dot(&self.reduction.0);
        for (mut row, length) in scaled_sums.rows_mut().into_iter().zip(&lengths) {
            let length = *length as f32;
            Zip::from(&mut row).and(&self.reduction.1).for_each(|n, bias| *n = (*n + length * bias) / length.sqrt());
        }
        let out = self.top_layers(&scaled_sums);
        vectors.extend(out.rows().into_iter().map(|row| {
            // The result is practically never all zero.
            Vector::new(row.to_vec()).unwrap_or_else(Vector::fallback)
        }));
    }

    /// The features of each piece: the numbers of the piece itself, then those of its windows.
    fn features(&self, texts: &[Vec<u32>], pieces: usize) -> Array2<f32> {
        let mut features = Array2::<f32>::zeros((pieces, FEATURES));
        let numbers = texts.iter().flatten();
        for (mut row, number) in features.rows_mut().into_iter().zip(numbers) {
            let (part, place) = (*number as usize % PART_COUNT, *number as usize / PART_COUNT);
            let stored = &self.table[part][place * DIMENSIONS..][..DIMENSIONS];
            for (n, byte) in row.iter_mut().zip(stored) {
                *n = f32::from(*byte) * self.scale[part] + self.lowest[part];
            }
        }
        let mut projected = features.slice_axis(COLUMNS, range(0..DIMENSIONS)).dot(&self.projection.0);
        projected += &self.projection.1;
        layer_norm(projected.view_mut(), &self.projection_norm, self.epsilon);
        for (index, window) in self.windows.iter().enumerate() {
            let from = index * WINDOW_DIMENSIONS;
            let input = projected.slice_axis(COLUMNS, range(from..from + WINDOW_DIMENSIONS));
            let middle = window.layer(&window.first, input, texts);
            let output = window.layer(&window.second, middle.view(), texts);
            let from = DIMENSIONS + from;
            features.slice_axis_mut(COLUMNS, range(from..from + WINDOW_DIMENSIONS)).assign(&output);
        }
        features
    }

    /// Applies the layers that convert the sums of the texts to vectors.
    fn top_layers(&self, scaled_sums: &Array2<f32>) -> Array2<f32> {
        let [first, second, third, last] = &self.layers;
        let [to_second, to_last] = &self.shortcuts;
        let relu = |mut a: Array2<f32>| {
            a.mapv_inplace(|n| n.max(0.0));
            a
        };
        let y = relu(scaled_sums.dot(first));
        let second = relu(scaled_sums.dot(to_second) + y.dot(second));
        let third = relu(second.dot(third));
        (second.dot(to_last) + third.dot(last)).mapv_into(f32::tanh)
    }
}

impl Window {
    /// Applies one layer of the window to each piece and its neighbours in the same text. Missing neighbours count as
    /// zeros.
    fn layer(
        &self,
        (weights, bias): &(Array2<f32>, Array1<f32>),
        input: ArrayView2<'_, f32>,
        texts: &[Vec<u32>],
    ) -> Array2<f32> {
        let width = WINDOW_DIMENSIONS;
        let mut windows_of_pieces = Array2::<f32>::zeros((input.nrows(), self.size * width));
        let mut start = 0;
        for length in texts.iter().map(Vec::len) {
            for slot in 0..self.size {
                // In window slot `slot`, the row of piece `t` contains the piece `t + slot - pieces_before`.
                let skipped = self.pieces_before.saturating_sub(slot).min(length);
                let source = slot.saturating_sub(self.pieces_before).min(length);
                let count = length - skipped.max(source);
                let neighbours = input.slice_axis(ROWS, range(start + source..start + source + count));
                let mut columns = windows_of_pieces.slice_axis_mut(COLUMNS, range(slot * width..(slot + 1) * width));
                columns.slice_axis_mut(ROWS, range(start + skipped..start + skipped + count)).assign(&neighbours);
            }
            start += length;
        }
        let mut output = windows_of_pieces.dot(weights);
        output += bias;
        Zip::from(&mut output).and(&input).for_each(|n, input| *n = n.max(0.0) + input);
        output
    }
}

/// Normalises each row to mean 0 and variance 1, then multiplies it by `scale` and adds `shift`.
fn layer_norm(mut rows: ArrayViewMut2<'_, f32>, (scale, shift): &(Array1<f32>, Array1<f32>), epsilon: f32) {
    let count = rows.ncols() as f32;
    for mut row in rows.rows_mut() {
        let mean = row.sum() / count;
        row.mapv_inplace(|n| n - mean);
        let factor = 1.0 / (row.dot(&row) / count + epsilon).sqrt();
        Zip::from(&mut row).and(scale).and(shift).for_each(|n, scale, shift| *n = *n * factor * scale + shift);
    }
}
