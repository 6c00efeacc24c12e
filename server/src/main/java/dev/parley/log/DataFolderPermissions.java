package dev.parley.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The paths of a data folder that other users can access. Reading it changes nothing.
///
/// @param restricted the next start makes them owner-only
/// @param foreign the next start fails, because they belong to another user
/// @param shared the folder keeps its permissions, because it also contains files of others
public record DataFolderPermissions(List<Path> restricted, List<Path> foreign, boolean shared) {

  private static final String ROOT = "root";

  public DataFolderPermissions {
    restricted = List.copyOf(restricted);
    foreign = List.copyOf(foreign);
  }

  /// Reads the permissions as they are. `user` is the user that starts the server.
  public static DataFolderPermissions read(Path folder, String user) throws IOException {
    var open = new ArrayList<Path>();
    var others = false;
    try (var entries = Files.newDirectoryStream(folder)) {
      for (var entry : entries) {
        others |= !DataFolder.isOurs(entry);
        // The vault itself checks its key file.
        if (DataFolder.isOurs(entry)
            && !entry.endsWith("vault.key")
            && !Files.isSymbolicLink(entry)
            && OwnerOnlyFiles.accessibleByOthers(entry)) {
          open.add(entry);
        }
      }
    }
    var folderOpen = OwnerOnlyFiles.accessibleByOthers(folder);
    if (folderOpen && !others) {
      open.add(folder);
    }
    var restricted = new ArrayList<Path>();
    var foreign = new ArrayList<Path>();
    for (var path : open) {
      (belongsTo(path, user) ? restricted : foreign).add(path);
    }
    return new DataFolderPermissions(restricted, foreign, folderOpen && others);
  }

  private static boolean belongsTo(Path path, String user) throws IOException {
    return user.equals(ROOT)
        || user.equals(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName());
  }
}
