package dev.parley.identity;

import dev.parley.protocol.ContextId;
import java.util.Optional;
import java.util.Set;

/// Finds the contexts that others share with a caller. Answers from memory.
public interface SharedContexts {

  /// Nothing is shared.
  SharedContexts NONE =
      new SharedContexts() {
        @Override
        public Optional<ShareLevel> level(Caller caller, ContextId context) {
          return Optional.empty();
        }

        @Override
        public Set<String> ids(Caller caller) {
          return Set.of();
        }
      };

  /// How the context is shared with the caller, if it is.
  Optional<ShareLevel> level(Caller caller, ContextId context);

  /// The ids of the contexts that are shared with the caller.
  Set<String> ids(Caller caller);
}
