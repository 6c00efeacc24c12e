package dev.parley.log;

import java.sql.SQLException;

/// The writer of a store may not write any more, because another one has taken over. It is of no use
/// to try again.
public final class FencedException extends SQLException {

  private static final long serialVersionUID = 1;

  FencedException(long node) {
    super("node " + node + " is not the active one any more");
  }
}
