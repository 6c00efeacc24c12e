package dev.parley.tool;

import dev.parley.tool.process.Children;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/// The built-in tools of Parley.
public final class BuiltInTools {

  private record Group(String name, List<String> tools) {
    static Group of(String name) {
      return new Group(name, List.of(name));
    }
  }

  private static final List<Group> ALL =
      List.of(
          new Group(
              "files",
              List.of("read_file", "list_files", "search_files", "write_file", "edit_file")),
          Group.of("shell"),
          new Group("http", List.of("http", "fetch")),
          Group.of("ask_user"),
          Group.of("think"),
          new Group("artifacts", List.of("dataset", "data", "report")),
          Group.of("calculator"),
          Group.of("clock"),
          Group.of("sign_in"));

  /// The names of the groups in a configuration; each tool can also be requested by its own name.
  public static final List<String> GROUPS = ALL.stream().map(Group::name).toList();

  /// The dependencies of the tools that do more than read files, compute and return the time.
  ///
  /// `environment` is the environment of commands; `privateHosts` are the hosts that [Http] and
  /// [Fetch] may access although they are not public.
  public record Parts(
      InstantSource time,
      Children children,
      Map<String, String> environment,
      Set<String> privateHosts,
      Credentials credentials,
      FileAccess files) {
    public Parts {
      environment = Map.copyOf(environment);
      privateHosts = Set.copyOf(privateHosts);
    }
  }

  private BuiltInTools() {}

  /// The tools that need no approval: they read the working directory, compute, return the time and
  /// write artifacts.
  public static List<Tool> all(InstantSource time) {
    return harmless(time, FileAccess.WITHOUT_SERVER);
  }

  private static List<Tool> harmless(InstantSource time, FileAccess files) {
    return List.of(
        new ReadFile(files),
        new ListFiles(files),
        new SearchFiles(files),
        new Calculator(),
        new Clock(time),
        new Dataset(files),
        new Data(),
        new Report());
  }

  /// All built-in tools.
  public static List<Tool> all(Parts parts) {
    return Stream.concat(
            harmless(parts.time(), parts.files()).stream(),
            Stream.of(
                new WriteFile(parts.files()),
                new EditFile(parts.files()),
                new Shell(parts.children(), parts.environment()),
                new Http(parts.privateHosts(), parts.credentials()),
                new Fetch(parts.privateHosts(), parts.credentials()),
                new AskUser(),
                new Think(),
                new SignInTool()))
        .toList();
  }

  /// The tools that a configuration requests by these names, of groups or of tools.
  public static List<Tool> named(List<String> names, List<Tool> tools) {
    return tools.stream()
        .filter(tool -> names.contains(tool.name()) || names.contains(group(tool)))
        .toList();
  }

  /// The names of the tools that a configuration requests by these names, of groups or of tools.
  public static List<String> names(List<String> names) {
    return ALL.stream()
        .flatMap(
            group ->
                group.tools().stream()
                    .filter(tool -> names.contains(group.name()) || names.contains(tool)))
        .toList();
  }

  /// True if this is the name of a group or of a tool.
  public static boolean isKnown(String name) {
    return ALL.stream()
        .anyMatch(group -> group.name().equals(name) || group.tools().contains(name));
  }

  /// The name of the group that the tool belongs to.
  public static String group(Tool tool) {
    return ALL.stream()
        .filter(group -> group.tools().contains(tool.name()))
        .map(Group::name)
        .findFirst()
        .orElse(tool.name());
  }
}
