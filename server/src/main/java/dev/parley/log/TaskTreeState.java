package dev.parley.log;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.Entry;

/// The tasks of a context, folded from entries by a reader. For one thread.
///
/// Readers and decisions use the same fold, so they always agree on the state of a task.
public final class TaskTreeState {

  private final ContextState state = new ContextState();

  /// Applies the next entry. Text and artifacts do not affect the state of a task.
  public void apply(Entry entry) {
    if (!(entry.event() instanceof ContentEvent) && !(entry.event() instanceof ArtifactEvent)) {
      state.apply(entry.origin(), entry.event(), entry.position());
    }
  }

  /// The state after the entries applied so far.
  public ContextState state() {
    return state;
  }
}
