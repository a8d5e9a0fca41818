// See control_tree.h. A folder lists Items; a path is followed through them from the root. Each
// item knows what a listing shows of it and what reading and writing it mean.

#include "fuse/control/control_tree.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "core/base/status.h"
#include "core/policy/families.h"
#include "fuse/control/values.h"
#include "fuse/render/iostat.h"
#include "fuse/render/mdstat.h"
#include "fuse/render/status_json.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

struct Item;
using Items = std::vector<Item>;

// A name in a folder. Lives for one access; what it refers to (the snapshot) is kept by Access.
struct Item {
  ControlEntry entry;
  std::function<Items()> list;                          // folders
  std::function<std::string()> show;                    // files; the target of links
  std::function<absl::Status(std::string_view)> store;  // writable files
};

class Access {
 public:
  explicit Access(ControlContext& context)
      : context_(context),
        array_(context.array.Snapshot()),
        sync_(context.sync == nullptr ? SyncStatus() : context.sync->Status()) {}

  Items Root() const;
  absl::StatusOr<Item> Find(std::string_view path) const;

 private:
  Items Array() const;
  Items Member(const MemberSnapshot& member) const;
  Items Policies() const;
  void AddOptions(const PolicyFamilyInfo& family, Items& items) const;
  void AddAttributes(std::span<const Attribute> table, const MemberSnapshot* member,
                     Items& items) const;

  ControlContext& context_;
  const ArraySnapshot array_;
  const SyncStatus sync_;
};

Item File(std::string_view name, std::function<std::string()> show) {
  return {{std::string(name), ControlKind::kFile, false, true}, {}, std::move(show), {}};
}

Item Folder(std::string name, bool lasting, std::function<Items()> list) {
  return {{std::move(name), ControlKind::kFolder, false, lasting}, std::move(list), {}, {}};
}

std::string EventLines(const EventLog& events) {
  std::string text;
  for (const Event& event : events.All()) {
    text += TextLine(FormatEvent(event));
  }
  return text;
}

Items Access::Root() const {
  return {File("mdstat", [this] { return RenderMdstat(array_, sync_); }),
          File("status.json", [this] { return RenderStatusJson(array_, context_.status, sync_); }),
          File("events", [this] { return EventLines(context_.events); }),
          File("iostat", [this] { return RenderIostat(array_); }),
          Folder("md", true, [this] { return Array(); })};
}

void Access::AddAttributes(std::span<const Attribute> table, const MemberSnapshot* member,
                           Items& items) const {
  for (const Attribute& attribute : table) {
    const Subject subject{context_, array_, sync_, member};
    if (attribute.is_present != nullptr && !attribute.is_present(subject)) {
      continue;
    }
    Item& item = items.emplace_back();
    item.entry = {std::string(attribute.name), ControlKind::kFile, attribute.store != nullptr,
                  member == nullptr};
    item.show = [&attribute, subject] { return attribute.show(subject); };
    if (attribute.store != nullptr) {
      item.store = [&attribute, subject](std::string_view value) {
        return attribute.store(subject, value);
      };
    }
  }
}

Items Access::Array() const {
  Items items;
  AddAttributes(ArrayAttributes(), nullptr, items);
  AddAttributes(SyncAttributes(), nullptr, items);
  items.push_back(Folder("bitmap", true, [this] {
    Items attributes;
    AddAttributes(BitmapAttributes(), nullptr, attributes);
    return attributes;
  }));
  items.push_back(Folder("policy", true, [this] { return Policies(); }));
  for (uint32_t slot = 0; slot < array_.raid_disks; ++slot) {
    if (const MemberSnapshot* const member = MemberInSlot(array_, slot); member != nullptr) {
      Item& item = items.emplace_back();
      item.entry = {"rd" + std::to_string(slot), ControlKind::kLink, false, false};
      item.show = [member] { return "dev-" + member->name; };
    }
  }
  for (const MemberSnapshot* member : MembersByIndex(array_)) {
    items.push_back(
        Folder("dev-" + member->name, false, [this, member] { return Member(*member); }));
  }
  return items;
}

Items Access::Member(const MemberSnapshot& member) const {
  Items items;
  AddAttributes(MemberAttributes(), &member, items);
  return items;
}

Items Access::Policies() const {
  Items items;
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    Item& item = items.emplace_back();
    item.entry = {std::string(info.name), ControlKind::kFile, true, true};
    item.show = [this, family = info.family] {
      return TextLine(context_.policies.Describe(family));
    };
    item.store = [this, family = info.family](std::string_view name) {
      return context_.policies.Switch(family, name);
    };
    AddOptions(info, items);
  }
  return items;
}

// Those of the active policy, as FAMILY.KEY; another policy has others.
void Access::AddOptions(const PolicyFamilyInfo& family, Items& items) const {
  for (const auto& [option, value] : context_.policies.ActiveOptions(family.family)) {
    Item& item = items.emplace_back();
    item.entry = {std::string(family.name) + "." + std::string(option), ControlKind::kFile, true,
                  false};
    item.show = [value = value] { return TextLine(value); };
    item.store = [this, family = family.family, option = option](std::string_view text) {
      return context_.policies.SetActiveOption(family, option, text);
    };
  }
}

absl::StatusOr<Item> Access::Find(std::string_view path) const {
  Item found = Folder("", true, [this] { return Root(); });
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t slash = rest.find('/');
    const std::string_view name = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    Items items = found.list ? found.list() : Items();
    const auto match = std::find_if(items.begin(), items.end(),
                                    [name](const Item& item) { return item.entry.name == name; });
    if (match == items.end()) {
      return ErrnoStatus(ENOENT, std::string(path) + ": no such control file");
    }
    found = std::move(*match);
  }
  return found;
}

}  // namespace

absl::StatusOr<ControlEntry> ControlTree::Find(std::string_view path) const {
  const Access access(context_);
  MDVOL_ASSIGN_OR_RETURN(Item item, access.Find(path));
  return std::move(item.entry);
}

absl::StatusOr<std::vector<ControlEntry>> ControlTree::List(std::string_view path) const {
  const Access access(context_);
  MDVOL_ASSIGN_OR_RETURN(const Item item, access.Find(path));
  if (!item.list) {
    return ErrnoStatus(ENOTDIR, std::string(path) + ": not a folder");
  }
  std::vector<ControlEntry> entries;
  for (Item& listed : item.list()) {
    entries.push_back(std::move(listed.entry));
  }
  return entries;
}

absl::StatusOr<std::string> ControlTree::Show(std::string_view path) const {
  const Access access(context_);
  MDVOL_ASSIGN_OR_RETURN(const Item item, access.Find(path));
  if (!item.show) {
    return ErrnoStatus(EISDIR, std::string(path) + ": a folder");
  }
  return item.show();
}

absl::Status ControlTree::Store(std::string_view path, std::string_view value) {
  const Access access(context_);
  MDVOL_ASSIGN_OR_RETURN(const Item item, access.Find(path));
  if (!item.store) {
    return ErrnoStatus(EACCES, std::string(path) + ": is read-only");
  }
  return Annotate(item.store(StripNewline(value)), path);
}

}  // namespace mdvol
