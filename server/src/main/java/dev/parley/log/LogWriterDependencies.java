package dev.parley.log;

import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;

/// The dependencies of [LogWriter] and of its parts.
record LogWriterDependencies(
    BlockStore store,
    LogTuning tuning,
    Waker waker,
    CommitSignal commitSignal,
    UnsealedBlocks unsealed,
    WindowMemoryLimiter windows,
    ReaderGate gate,
    LogMetrics metrics,
    Time time,
    Threads threads,
    FatalHandler fatal) {}
