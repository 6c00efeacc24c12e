package dev.parley.app;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The largest cycle of top-level classes in each package: a set of classes that all depend on each
/// other, directly or through others of the set. A nested type counts as its top-level class. A
/// `permits` clause does not count: a sealed type has to name its subtypes.
final class ClassCycles {

  private static final Pattern COMMENT_OR_TEXT =
      Pattern.compile(
          "\"\"\"(?s:.*?)\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])+'"
              + "|//[^\\n]*|/\\*(?s:.*?)\\*/");
  private static final Pattern PERMITS = Pattern.compile("\\bpermits\\b[^{]*");
  private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?([\\w.*]+);$");

  /// The name of a type that is not qualified.
  private static final Pattern TYPE_NAME = Pattern.compile("(?<![\\w.])[A-Z]\\w*");

  private ClassCycles() {}

  /// The names of the classes of the largest cycle, by package. Packages without cycles are left
  /// out.
  static Map<String, Set<String>> largest(List<SourceFile> files) {
    var packages =
        files.stream()
            .filter(file -> !file.fileName().endsWith("-info.java"))
            .collect(
                Collectors.groupingBy(SourceFile::packageName, TreeMap::new, Collectors.toList()));
    var largest = new TreeMap<String, Set<String>>();
    packages.forEach(
        (name, classes) -> {
          var cycle = largestCycle(references(name, classes));
          if (cycle.size() > 1) {
            largest.put(name, cycle);
          }
        });
    return largest;
  }

  private static Map<String, Set<String>> references(String packageName, List<SourceFile> classes) {
    var names = classes.stream().map(ClassCycles::className).collect(Collectors.toSet());
    var references = new LinkedHashMap<String, Set<String>>();
    for (var file : classes) {
      var text = COMMENT_OR_TEXT.matcher(String.join("\n", file.lines())).replaceAll(" ");
      var code = PERMITS.matcher(text).replaceAll(" ");
      var imports = IMPORT.matcher(code).results().map(found -> found.group(1)).toList();
      var used =
          TYPE_NAME
              .matcher(IMPORT.matcher(code).replaceAll(""))
              .results()
              .map(MatchResult::group)
              .collect(Collectors.toCollection(HashSet::new));
      for (var imported : imports) {
        if (imported.startsWith(packageName + ".")) {
          used.add(imported.substring(packageName.length() + 1).split("\\.", 2)[0]);
        } else {
          used.remove(imported.substring(imported.lastIndexOf('.') + 1));
        }
      }
      used.retainAll(names);
      used.remove(className(file));
      references.put(className(file), used);
    }
    return references;
  }

  private static String className(SourceFile file) {
    return file.fileName().replace(".java", "");
  }

  private static Set<String> largestCycle(Map<String, Set<String>> references) {
    var reachable = new LinkedHashMap<String, Set<String>>();
    references.keySet().forEach(from -> reachable.put(from, reachable(references, from)));
    Set<String> largest = Set.of();
    for (var from : references.keySet()) {
      var cycle = new TreeSet<>(reachable.get(from));
      cycle.removeIf(to -> !reachable.get(to).contains(from));
      if (cycle.size() > largest.size()) {
        largest = cycle;
      }
    }
    return largest;
  }

  private static Set<String> reachable(Map<String, Set<String>> references, String from) {
    var found = new HashSet<String>();
    var open = new ArrayDeque<>(Set.of(from));
    while (!open.isEmpty()) {
      for (var next : references.get(open.pop())) {
        if (found.add(next)) {
          open.add(next);
        }
      }
    }
    return found;
  }
}
