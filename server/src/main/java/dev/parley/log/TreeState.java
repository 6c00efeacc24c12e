package dev.parley.log;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.Entry;

/// The tasks of a context as decisions saw them, folded again from entries by a reader. For one thread.
///
/// Readers and decisions use the same fold, so that they never disagree on where a task stands.
public final class TreeState {

  private final ContextState state = new ContextState();

  /// Takes in the next entry. Text and artifacts say nothing of where a task stands.
  public void apply(Entry entry) {
    if (!(entry.event() instanceof ContentEvent) && !(entry.event() instanceof ArtifactEvent)) {
      state.apply(entry.origin(), entry.event(), entry.position());
    }
  }

  /// The tasks as they are after what was taken in.
  public ContextState state() {
    return state;
  }
}
