package dev.parley.projection;

import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// One row per rewind. It determines which rows of the other tables are active.
///
/// The active entries are found by walking back from the newest event. At a rewind, the walk jumps
/// to the rewind's target, which may itself be in a range that an earlier rewind skipped. All
/// ranges between two jumps are active, and everything that was skipped is rewound. So the events
/// that precede an event never change.
final class RewindTable {

  private static final List<String> REWINDABLE =
      List.of("messages", "tasks", "artifacts", "usage", "state", "stored");

  private record Rewind(long seq, long toSeq) {}

  /// A range of active seqs, both ends included.
  record SeqRange(long first, long last) {}

  private final SqlSession sqlSession;

  RewindTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  /// Updates the `rewound` flag in all tables.
  ///
  /// @return the seq that the context was rewound to
  long add(Entry entry, ContextRewound rewound) throws SQLException {
    var context = entry.contextId();
    var seq = entry.position().seq();
    var toSeq = Math.clamp(rewound.toSeq(), 0, seq - 1);
    sqlSession.update("INSERT INTO rewinds VALUES (?, ?, ?)", context, seq, toSeq);
    var last = new Rewind(seq, toSeq);
    while (last.seq() > 0) {
      var before = before(context, last.toSeq());
      mark(context, 1, last.toSeq() + 1, last.seq() - 1);
      mark(context, 0, before.seq(), last.toSeq());
      last = before;
    }
    return toSeq;
  }

  /// Returns the seq of the last rewind.
  Optional<Long> lastRewind(ContextId context) throws SQLException {
    return Optional.of(before(context, Long.MAX_VALUE).seq()).filter(seq -> seq > 0);
  }

  /// Returns the ranges that were active when `seq` was the newest event, oldest first.
  List<SeqRange> activeRanges(ContextId context, long seq) throws SQLException {
    var stretches = new ArrayList<SeqRange>();
    var last = seq;
    while (last > 0) {
      var before = before(context, last);
      stretches.addFirst(new SeqRange(before.seq(), last));
      last = before.toSeq();
    }
    return stretches;
  }

  /// Returns the last rewind up to `seq`, or one at 0 if there is none.
  private Rewind before(ContextId context, long seq) throws SQLException {
    return sqlSession
        .first(
            "SELECT * FROM rewinds WHERE context = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
            row -> new Rewind(row.number("seq"), row.number("to_seq")),
            context,
            seq)
        .orElse(new Rewind(0, 0));
  }

  private void mark(ContextId context, int rewound, long first, long last) throws SQLException {
    for (var table : REWINDABLE) {
      sqlSession.update(
          "UPDATE "
              + table
              + " SET rewound = ? WHERE context = ? AND seq BETWEEN ? AND ? AND rewound <> ?"
              // A rewind does not restore removed tasks.
              + (table.equals("stored") ? " AND task IS NOT NULL" : ""),
          rewound,
          context,
          first,
          last,
          rewound);
    }
  }
}
