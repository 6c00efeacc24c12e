package dev.parley.log;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.Kind;
import org.jspecify.annotations.Nullable;

/// What was last written to an artifact: its kind, version, next index, and whether it is whole.
///
/// `highest` is the highest version there ever was, if a rewind has gone back from it. Version 0 is that
/// of an artifact that was not there yet at the place that was gone back to.
public record ArtifactHead(
    Kind kind, int version, int nextIndex, boolean complete, @Nullable Integer highest) {

  /// The version that comes next.
  public int nextVersion() {
    return (highest == null ? version : highest) + 1;
  }

  static ArtifactHead first(ArtifactEvent event) {
    var version = event.version() == null ? 1 : event.version();
    return new ArtifactHead(event.kind(), version, index(event) + 1, complete(event), null);
  }

  ArtifactHead plus(ArtifactEvent event) {
    var named = event.version();
    // A version that was gone back to is not gone on with.
    var fresh = index(event) == 0 || nextIndex == 0;
    var next = named != null ? named : fresh ? nextVersion() : version;
    return new ArtifactHead(
        event.kind(), next, index(event) + 1, complete(event), highestUnless(next));
  }

  /// As it was at an earlier version, or before the first if that is 0.
  ArtifactHead backTo(int earlier) {
    return new ArtifactHead(kind, earlier, 0, true, highestUnless(earlier));
  }

  private @Nullable Integer highestUnless(int current) {
    var before = nextVersion() - 1;
    return before > current ? before : null;
  }

  private static int index(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.index();
      case DatasetWrite rows -> rows.index();
      case DataWrite _ -> 0;
    };
  }

  private static boolean complete(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.complete();
      case DatasetWrite rows -> rows.complete();
      case DataWrite _ -> true;
    };
  }
}
