package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;

/// A range of entries that a fork shares: the entries up to `last` that another context wrote.
///
/// `number` is the number of that context, which its segments are stored under. `ids` computes its
/// event ids, even after that context was deleted. A fork has a list of these ranges, each of which
/// continues where the previous one ends.
record SharedRange(long number, EventIdGenerator ids, Position last) {

  /// The ranges that a fork of `source` shares if its last shared position is `cut`.
  static List<SharedRange> of(CachedContext source, Position cut) {
    var shares = new ArrayList<SharedRange>();
    for (var sharedRange : source.sharedRanges) {
      if (!cut.after(sharedRange.last())) {
        shares.add(new SharedRange(sharedRange.number(), sharedRange.ids(), cut));
        return shares;
      }
      shares.add(sharedRange);
    }
    shares.add(new SharedRange(source.number, source.ids, cut));
    return shares;
  }
}
