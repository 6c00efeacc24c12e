package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;

/// A stretch of a fork's past: the entries up to `last` that another context wrote.
///
/// `number` is that context's, by which its segments are found, and `ids` makes its event ids, even when
/// it has been deleted since. What a fork shares is a list of these, each going on where the one
/// before ends.
record Share(long number, EventIds ids, Position last) {

  /// What a fork of `source` shares that is cut off after `cut`.
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
