export {
  AmbientLight, ArrowHelper, BoxGeometry, BufferGeometry, Color, CylinderGeometry, DirectionalLight, EdgesGeometry,
  Float32BufferAttribute, GridHelper, Group, Line, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Scene, SphereGeometry, Vector3, WebGLRenderer,
  WireframeGeometry,
} from "three";
