package dev.parley.door.contexts;

import dev.parley.door.Access;
import dev.parley.door.AgentType;
import dev.parley.door.Removal;
import dev.parley.door.Route;
import dev.parley.door.Tail;
import dev.parley.log.EventLog;
import dev.parley.task.Rewinder;
import dev.parley.task.Tasks;
import dev.parley.vault.SignIns;
import dev.parley.view.Views;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/// The native door: all its routes.
public final class ContextsDoor {

  /// What the door passes requests on to.
  public record Parts(
      EventLog log,
      Views views,
      Tasks tasks,
      Access access,
      Removal removal,
      Tail.Parts tails,
      SignIns signIns,
      Supplier<UUID> ids,
      List<AgentType> agentTypes) {
    public Parts {
      agentTypes = List.copyOf(agentTypes);
    }
  }

  private final Parts parts;

  public ContextsDoor(Parts parts) {
    this.parts = parts;
  }

  /// The routes.
  public List<Route> routes() {
    var events = new EventRoutes(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new ContextRoutes(parts).routes());
    routes.addAll(new MessageRoutes(parts, events).routes());
    routes.addAll(events.routes());
    routes.addAll(new SocketRoutes(parts).routes());
    routes.addAll(new TaskRoutes(parts).routes());
    routes.addAll(new ArtifactRoutes(parts).routes());
    var inputs = new InputRoutes(parts);
    var signIns = new SignInRoutes(parts);
    routes.addAll(inputs.routes());
    routes.addAll(signIns.routes());
    routes.addAll(new ResumeRoutes(parts, inputs, signIns).routes());
    routes.addAll(new RewindRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    return routes;
  }
}
