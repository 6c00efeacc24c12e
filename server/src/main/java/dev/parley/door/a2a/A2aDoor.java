package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Parameter;
import dev.parley.door.Route;
import java.util.List;

/// The A2A door: its routes.
public final class A2aDoor {

  /// The version may stand in the header or in the query; what else others add is ignored.
  static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.header(Version.HEADER, "0.3 or 1.0; 0.3 if it is missing"),
          Parameter.query(Version.HEADER, "the same, for those who cannot send headers"),
          Parameter.OTHERS);

  private final DoorParts parts;
  private final TaskForm form;
  private final PushDesk pushes;
  private final A2aSettings settings;

  public A2aDoor(DoorParts parts, PushDesk pushes, A2aSettings settings) {
    this.parts = parts;
    this.form = new TaskForm(parts.log(), parts.views());
    this.pushes = pushes;
    this.settings = settings;
  }

  /// How this door shows tasks.
  public TaskForm form() {
    return form;
  }

  /// The routes.
  public List<Route> routes() {
    var agents = new Agents(parts);
    var operations = new Operations(parts, form, pushes, settings);
    var rpc = new JsonRpc(agents, operations);
    return List.of(
        Route.send(
            Route.Method.POST,
            "/a2a/{agent}",
            new Route.Description(
                "Calls an agent by A2A over JSON-RPC, in version 0.3 or 1.0",
                PARAMETERS,
                null,
                Answer.other("application/json")),
            rpc::handle));
  }
}
