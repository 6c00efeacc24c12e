package dev.parley.view;

import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// One row per rewind, by which the other tables know which of their rows count.
///
/// What counts is found by walking back from the newest event: at a rewind the walk jumps to the
/// place that was gone back to, which may itself lie in a stretch that an earlier rewind had left
/// behind (S3.55). So every stretch between two jumps counts and everything jumped over does not, and
/// what an event had before it when it was written is what it has before it for ever.
final class RewindTable {

  private static final List<String> REWINDABLE =
      List.of("messages", "tasks", "artifacts", "usage", "state", "stored");

  private record Rewind(long seq, long toSeq) {}

  /// Seqs that count, from the first to the last.
  record Stretch(long first, long last) {}

  private final Sql sql;

  RewindTable(Sql sql) {
    this.sql = sql;
  }

  /// Marks in all tables what no longer counts, and what does again.
  ///
  /// @return the place that was gone back to
  long add(Entry entry, ContextRewound rewound) throws SQLException {
    var context = entry.contextId();
    var seq = entry.position().seq();
    var toSeq = Math.clamp(rewound.toSeq(), 0, seq - 1);
    sql.update("INSERT INTO rewinds VALUES (?, ?, ?)", context.value(), seq, toSeq);
    var last = new Rewind(seq, toSeq);
    while (last.seq() > 0) {
      var before = before(context, last.toSeq());
      mark(context, 1, last.toSeq() + 1, last.seq() - 1);
      mark(context, 0, before.seq(), last.toSeq());
      last = before;
    }
    return toSeq;
  }

  /// Where the last rewind stands.
  Optional<Long> last(ContextId context) throws SQLException {
    return Optional.of(before(context, Long.MAX_VALUE).seq()).filter(seq -> seq > 0);
  }

  /// What counted when `seq` was the newest event, oldest first.
  List<Stretch> counted(ContextId context, long seq) throws SQLException {
    var stretches = new ArrayList<Stretch>();
    var last = seq;
    while (last > 0) {
      var before = before(context, last);
      stretches.addFirst(new Stretch(before.seq(), last));
      last = before.toSeq();
    }
    return stretches;
  }

  /// The last rewind up to `seq`, or one at 0 if there is none.
  private Rewind before(ContextId context, long seq) throws SQLException {
    return sql.first(
            "SELECT * FROM rewinds WHERE context = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
            row -> new Rewind(row.number("seq"), row.number("to_seq")),
            context.value(),
            seq)
        .orElse(new Rewind(0, 0));
  }

  private void mark(ContextId context, int rewound, long first, long last) throws SQLException {
    for (var table : REWINDABLE) {
      sql.update(
          "UPDATE "
              + table
              + " SET rewound = ? WHERE context = ? AND seq BETWEEN ? AND ? AND rewound <> ?"
              // That a task was removed is not taken back.
              + (table.equals("stored") ? " AND task IS NOT NULL" : ""),
          rewound,
          context.value(),
          first,
          last,
          rewound);
    }
  }
}
