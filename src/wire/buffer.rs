//! Read buffers and where they rest: a connection holds one only while there are bytes in it, so
//! that an idle connection costs next to nothing. Each thread keeps a bounded number of them.

use std::cell::RefCell;

/// What one read of the socket asks for.
pub(crate) const SMALL: usize = 32 * 1024;
/// Once a read filled all of a small one: a long result is streaming.
pub(crate) const LARGE: usize = 128 * 1024;

const KEPT_SMALL: usize = 64;
const KEPT_LARGE: usize = 8;
const KEPT_OUTPUT: usize = 64;

type Bytes = Box<[u8]>;

thread_local! {
    static RESTING: RefCell<Resting> = const { RefCell::new(Resting::none()) };
}

struct Resting {
    small: Vec<Bytes>,
    large: Vec<Bytes>,
    outputs: Vec<Vec<u8>>,
}

impl Resting {
    const fn none() -> Self {
        Resting { small: Vec::new(), large: Vec::new(), outputs: Vec::new() }
    }
}

/// A piece of memory with the bytes `start..end` in it; the memory goes back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    memory: Bytes,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.end]
    }

    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn consume(&mut self, count: usize) {
        assert!(count <= self.len(), "only bytes that are there are consumed");
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room behind the bytes, at least one byte of it; with `whole` bytes in mind, as much as
    /// they still need.
    pub(crate) fn room(&mut self, whole: usize) -> &mut [u8] {
        if self.memory.is_empty() {
            self.memory = take(whole.max(SMALL));
        }
        let enough = whole.max(self.len() + 1);
        if self.memory.len() < enough {
            self.grow(enough.max(LARGE));
        } else if self.start > 0
            && (self.memory.len() - self.start < enough || self.memory.len() - self.end < SMALL / 4)
        {
            self.memory.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.len());
        }
        &mut self.memory[self.end..]
    }

    /// `count` bytes were put into the room.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
        assert!(self.end <= self.memory.len(), "a read fills no more than the room");
        if self.end == self.memory.len() && self.memory.len() < LARGE {
            self.grow(LARGE);
        }
    }

    /// Gives the memory back if there are no bytes in it.
    pub(crate) fn rest(&mut self) {
        if self.is_empty() {
            drop(std::mem::take(self));
        }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let whole = self.len() + bytes.len();
        self.room(whole)[..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Narrows the bytes to `len` from `from` on.
    pub(crate) fn narrow(&mut self, from: usize, len: usize) {
        assert!(from + len <= self.len(), "narrowed within the bytes");
        self.start += from;
        self.end = self.start + len;
    }

    fn grow(&mut self, size: usize) {
        let mut memory = take(size);
        let len = self.len();
        memory[..len].copy_from_slice(self.bytes());
        give(std::mem::replace(&mut self.memory, memory));
        (self.start, self.end) = (0, len);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        give(std::mem::take(&mut self.memory));
    }
}

fn take(size: usize) -> Bytes {
    let capacity = capacity(size);
    let kept = RESTING.with_borrow_mut(|resting| match capacity {
        SMALL => resting.small.pop(),
        LARGE => resting.large.pop(),
        _ => None,
    });
    kept.unwrap_or_else(|| vec![0; capacity].into_boxed_slice())
}

fn give(memory: Bytes) {
    // While a thread ends, its own list may be gone: then the memory is simply freed.
    let _ = RESTING.try_with(|resting| {
        let resting = &mut *resting.borrow_mut();
        match memory.len() {
            SMALL if resting.small.len() < KEPT_SMALL => resting.small.push(memory),
            LARGE if resting.large.len() < KEPT_LARGE => resting.large.push(memory),
            _ => {}
        }
    });
}

/// An empty vector for packets that go out, with room for those of most replies.
pub(crate) fn take_output() -> Vec<u8> {
    RESTING.with_borrow_mut(|resting| resting.outputs.pop()).unwrap_or_else(|| Vec::with_capacity(1024))
}

pub(crate) fn give_output(mut output: Vec<u8>) {
    if output.capacity() == 0 || output.capacity() > SMALL {
        return;
    }
    output.clear();
    let _ = RESTING.try_with(|resting| {
        let outputs = &mut resting.borrow_mut().outputs;
        if outputs.len() < KEPT_OUTPUT {
            outputs.push(output);
        }
    });
}

fn capacity(size: usize) -> usize {
    if size <= SMALL {
        SMALL
    } else if size <= LARGE {
        LARGE
    } else {
        size.next_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_in_order_while_the_buffer_is_filled_and_emptied() {
        let mut buffer = Buffer::default();
        let (mut written, mut read) = (0u32, 0u32);
        for step in 1..2000usize {
            let room = buffer.room(0);
            let count = (step * 7919 % 5000).min(room.len()) / 4 * 4;
            for chunk in room[..count].chunks_exact_mut(4) {
                chunk.copy_from_slice(&written.to_le_bytes());
                written += 1;
            }
            buffer.filled(count);
            let used = (step * 104_729 % 5000).min(buffer.len()) / 4 * 4;
            for chunk in buffer.bytes()[..used].chunks_exact(4) {
                assert_eq!(chunk, read.to_le_bytes());
                read += 1;
            }
            buffer.consume(used);
        }
        assert!(written > 100_000);
    }

    #[test]
    fn memory_is_given_back_only_when_empty_and_found_again() {
        let mut buffer = Buffer::default();
        buffer.append(b"abc");
        let address = buffer.memory.as_ptr();
        buffer.rest();
        assert_eq!(buffer.bytes(), b"abc");
        buffer.consume(3);
        buffer.rest();
        assert_eq!(buffer.memory.len(), 0);
        let again = take(1);
        assert_eq!(again.as_ptr(), address);
    }

    #[test]
    fn room_is_made_for_a_whole_packet() {
        let mut buffer = Buffer::default();
        buffer.append(b"head");
        assert!(buffer.room(1_000_000).len() >= 999_996);
        assert_eq!(buffer.bytes(), b"head");
    }
}
