package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;

/// A range of entries that a fork shares: the entries up to `last` that another context wrote.
///
/// `number` is the number of that context, which its segments are stored under. `ids` computes its
/// event ids, even after that context was deleted. A fork has a list of these ranges, each of which
/// continues where the previous one ends.
record Share(long number, EventIds ids, Position last) {

  /// The ranges that a fork of `source` shares if its last shared position is `cut`.
  static List<Share> of(LiveContext source, Position cut) {
    var shares = new ArrayList<Share>();
    for (var share : source.shares) {
      if (!cut.after(share.last())) {
        shares.add(new Share(share.number(), share.ids(), cut));
        return shares;
      }
      shares.add(share);
    }
    shares.add(new Share(source.number, source.ids, cut));
    return shares;
  }
}
