package dev.parley.tool;

import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.tool.process.ManagedProcesses;
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
  /// `environment` is the environment of commands; `privateHosts` are the hosts that [HttpTool] and
  /// [FetchTool] may access although they are not public.
  public record BuiltInToolsDependencies(
      Time time,
      Threads threads,
      OutgoingHttpClient http,
      ManagedProcesses children,
      Map<String, String> environment,
      Set<String> privateHosts,
      Credentials credentials,
      FileAccess files) {
    public BuiltInToolsDependencies {
      environment = Map.copyOf(environment);
      privateHosts = Set.copyOf(privateHosts);
    }
  }

  private BuiltInTools() {}

  /// The tools that need no approval: they read the working directory, compute, return the time and
  /// write artifacts.
  public static List<Tool> all(InstantSource time) {
    return safeTools(time, FileAccess.WITHOUT_SERVER);
  }

  private static List<Tool> safeTools(InstantSource time, FileAccess files) {
    return List.of(
        new ReadFileTool(files),
        new ListFilesTool(files),
        new SearchFilesTool(files),
        new CalculatorTool(),
        new ClockTool(time),
        new DatasetTool(files),
        new DataTool(),
        new ReportTool());
  }

  /// All built-in tools.
  public static List<Tool> all(BuiltInToolsDependencies builtInToolsDependencies) {
    var web =
        new ToolHttpClient(
            builtInToolsDependencies.http(),
            builtInToolsDependencies.time(),
            new AddressPolicy(builtInToolsDependencies.privateHosts()),
            builtInToolsDependencies.credentials());
    return Stream.concat(
            safeTools(builtInToolsDependencies.time(), builtInToolsDependencies.files()).stream(),
            Stream.of(
                new WriteFileTool(builtInToolsDependencies.files()),
                new EditFileTool(builtInToolsDependencies.files()),
                new ShellTool(
                    builtInToolsDependencies.children(),
                    builtInToolsDependencies.environment(),
                    builtInToolsDependencies.time(),
                    builtInToolsDependencies.threads()),
                new HttpTool(web),
                new FetchTool(web),
                new AskUserTool(),
                new ThinkTool(),
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
