package dev.parley.log;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.Kind;
import org.jspecify.annotations.Nullable;

/// The latest write to an artifact: its kind, version, next index, and whether it is complete.
///
/// `highest` is the highest version that the artifact ever had, if a rewind went back to an earlier
/// one. Version 0 means that the artifact did not exist yet at the rewind's target.
public record ArtifactHead(
    Kind kind, int version, int nextIndex, boolean complete, @Nullable Integer highest) {

  /// The version of the next new write.
  public int nextVersion() {
    return (highest == null ? version : highest) + 1;
  }

  static ArtifactHead first(ArtifactEvent event) {
    var version = event.version() == null ? 1 : event.version();
    return new ArtifactHead(Kind.of(event), version, index(event) + 1, complete(event), null);
  }

  ArtifactHead plus(ArtifactEvent event) {
    var named = event.version();
    // A write after a rewind starts a new version; it does not continue the restored one.
    var fresh = index(event) == 0 || nextIndex == 0;
    var next = named != null ? named : fresh ? nextVersion() : version;
    return new ArtifactHead(
        Kind.of(event), next, index(event) + 1, complete(event), highestUnless(next));
  }

  /// The head after a rewind to an earlier version; 0 means before the first version.
  ArtifactHead rewindTo(int earlier) {
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
